// Go moves a stack that is full to a larger place.
// limits: memory_mb=64
// ends: memory
package main

func deeper(depth int) int {
	return deeper(depth+1) + depth
}

func main() {
	println(deeper(0))
}
