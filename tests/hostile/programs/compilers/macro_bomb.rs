// A macro that stands for two of itself, and a compiler that was told not to count.
// compile limits: memory_mb=256 wall_ms=10000
// compiles: memory | wall_time | exit 1
#![recursion_limit = "100000000"]

macro_rules! bomb {
    ($($word:tt)*) => { bomb!($($word)* $($word)*) };
}

fn main() {
    bomb!(one);
}
