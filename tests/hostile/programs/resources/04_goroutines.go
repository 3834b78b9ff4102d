// Goroutines are not processes: ten thousand of them are harmless.
// limits: processes=64
// ends: exit 0
// says: 10000
package main

import (
	"fmt"
	"runtime"
	"time"
)

func main() {
	for i := 1; i < 10000; i++ {
		go time.Sleep(time.Hour)
	}
	fmt.Println(runtime.NumGoroutine())
}
