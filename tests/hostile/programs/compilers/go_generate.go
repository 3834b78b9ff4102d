// Commands in comments are not run.
// ends: exit 0
// says: nothing was generated
package main

//go:generate sh -c "echo hostile > generated"

import (
	"fmt"
	"os"
)

func main() {
	if _, err := os.Stat("generated"); err == nil {
		fmt.Println("a command was run")
		return
	}
	fmt.Println("nothing was generated")
}
