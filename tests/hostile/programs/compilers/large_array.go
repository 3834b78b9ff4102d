// Two gigabytes of data from one line.
// compile limits: memory_mb=512 disk_mb=128 processes=256 wall_ms=30000
// compiles: exit | memory
package main

var a = [1 << 28]int{1<<28 - 1: 1}

func main() {
	println(len(a))
}
