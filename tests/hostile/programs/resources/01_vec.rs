// A Vec that grows for ever.
// limits: memory_mb=64
// ends: memory
fn main() {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(vec![1; 1 << 20]);
    }
}
