// Joshdk reads one JUnit XML file with github.com/joshdk/go-junit and prints
// its totals: the least a program around that library can do.
package main

import (
	"fmt"
	"os"

	"github.com/joshdk/go-junit"
)

func main() {
	suites, err := junit.IngestFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var t junit.Totals
	for i := range suites {
		suites[i].Aggregate()
		n := suites[i].Totals
		t.Tests, t.Passed, t.Failed, t.Skipped, t.Error = t.Tests+n.Tests, t.Passed+n.Passed, t.Failed+n.Failed, t.Skipped+n.Skipped, t.Error+n.Error
	}
	fmt.Printf("%+v\n", t)
}
