// Reads numbers, prints how many steps each takes to come down to one.
package main

import "fmt"

func steps(n int) int {
	count := 0
	for ; n != 1; count++ {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
	}
	return count
}

func main() {
	var n int
	for {
		if _, err := fmt.Scan(&n); err != nil {
			return
		}
		fmt.Println(n, steps(n))
	}
}
