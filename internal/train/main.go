// Command train learns the weights with which the lines of a log are ranked, from recorded logs
// whose failing lines are known:
//
//	go run ./internal/train FIXTURES CORPUS WEIGHTS.json
//
// FIXTURES holds one folder per set, each with a manifest.json; CORPUS is internal/corpus.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/switchback-ci/switchback/internal/labelled"
	"github.com/switchback-ci/switchback/internal/train/learn"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: train FIXTURES CORPUS WEIGHTS.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(root, corpus, out string) error {
	logs, err := labelled.All(root, corpus, labelled.PerTool)
	if err != nil {
		return err
	}
	study, err := learn.NewStudy(logs)
	if err != nil {
		return err
	}
	w := learn.Weights(study.Examples, learn.DefaultOptions)
	data, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("%d logs\n", len(study.Examples))
	return os.WriteFile(out, append(data, '\n'), 0o644)
}
