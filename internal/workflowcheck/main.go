// Command workflowcheck looks for weaknesses in GitHub Actions workflows: the project's own, those
// in its documentation, and the action itself. Its rules carry the names of zizmor, which cannot be
// installed from the package sources that the project builds with.
//
//	go run ./internal/workflowcheck [FOLDER]
package main

import (
	"fmt"
	"os"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	files, err := Collect(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "workflowcheck:", err)
		os.Exit(2)
	}
	found := 0
	for _, f := range files {
		for _, x := range f.Check() {
			fmt.Println(x)
			found++
		}
	}
	if found > 0 {
		os.Exit(1)
	}
}
