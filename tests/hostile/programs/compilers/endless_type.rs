// A function that needs itself for an ever larger type.
// compile limits: wall_ms=30000
// compiles: exit
fn deeper<T>(value: T, depth: u64) -> u64 {
    if depth == 0 { 0 } else { deeper((value, 1), depth - 1) }
}

fn main() {
    println!("{}", deeper(1, std::env::args().count() as u64));
}
