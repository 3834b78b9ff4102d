// A list of two million boxes is dropped, each within the one before. Rust sees the guard page.
// limits: stack_mb=8
// ends: signal 6
struct Node {
    next: Option<Box<Node>>,
}

fn main() {
    let mut list = Node { next: None };
    for _ in 0..2_000_000 {
        list = Node { next: Some(Box::new(list)) };
    }
    println!("{}", list.next.is_some());
}
