// Slices, kept for ever.
// limits: memory_mb=64
// ends: memory
package main

func main() {
	var hoard [][]byte
	for {
		piece := make([]byte, 1<<20)
		for at := range piece {
			piece[at] = 1
		}
		hoard = append(hoard, piece)
	}
}
