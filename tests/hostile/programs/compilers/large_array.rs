// Two gigabytes of data from one line.
// compile limits: memory_mb=512 disk_mb=128 wall_ms=30000
// compiles: exit | memory
static A: [u64; 1 << 28] = [1; 1 << 28];

fn main() {
    println!("{}", A[std::env::args().count()]);
}
