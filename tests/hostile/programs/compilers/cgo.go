// Options for the C compiler and the linker, by way of cgo: there is none.
// compiles: exit 1
package main

// #cgo CFLAGS: -fplugin=/workspace/plugin.so
// #cgo LDFLAGS: -Wl,--wrap=main -o/workspace/other
// int answer(void) { return 42; }
import "C"

func main() {
	println(C.answer())
}
