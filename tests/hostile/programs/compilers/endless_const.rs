// A constant that the compiler computes for ever: it gives up by itself, or its time is up.
// compile limits: wall_ms=3000
// compiles: exit 1 | wall_time
const FOREVER: u64 = {
    let mut n = 0;
    loop {
        n = (n + 1) % 1000;
    }
};

fn main() {
    println!("{}", FOREVER);
}
