package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A tool reads one file and writes its report to the standard output, which
// is thrown away.
type tool struct {
	name    string
	install func(dir string) error
	args    func(dir, file string) []string
	reads   map[string]bool // kinds of input
	failed  error           // why it could not be installed
}

const (
	kindJUnit   = "JUnit XML"
	kindFailing = "JUnit XML by failures"
	kindOutput  = "JUnit XML, system-out heavy"
	kindGoJSON  = "go test -json"
	kindGoTest  = "go test -v"
)

func kinds(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

// peers lists what Switchback is measured against. Their versions are pinned
// in peers/go.mod and peers/package-lock.json.
func peers() []*tool {
	at := func(name string, args ...string) func(string, string) []string {
		return func(dir, file string) []string {
			out := []string{filepath.Join(dir, name)}
			for _, a := range args {
				out = append(out, strings.ReplaceAll(a, "FILE", file))
			}
			return out
		}
	}
	return []*tool{
		{name: "junit-to-ctrf", install: npm, reads: kinds(kindJUnit, kindFailing, kindOutput), args: func(dir, file string) []string {
			return []string{"node", filepath.Join(dir, "node_modules", "junit-to-ctrf", "dist", "cli.js"), file, "-o", filepath.Join(dir, "ctrf-out.json")}
		}},
		{name: "joshdk/go-junit", install: goBuild("joshdk", "./joshdk"), reads: kinds(kindJUnit, kindFailing, kindOutput), args: at("joshdk", "FILE")},
		{name: "gotestsum", install: goBuild("gotestsum", "gotest.tools/gotestsum"), reads: kinds(kindGoJSON), args: at("gotestsum", "--raw-command", "--", "cat", "FILE")},
		{name: "tparse", install: goBuild("tparse", "github.com/mfridman/tparse"), reads: kinds(kindGoJSON), args: at("tparse", "-file", "FILE")},
		{name: "go-junit-report (json)", install: goBuild("go-junit-report", "github.com/jstemmer/go-junit-report/v2"), reads: kinds(kindGoJSON), args: at("go-junit-report", "-parser", "gojson", "-in", "FILE")},
		{name: "go-junit-report (text)", install: goBuild("go-junit-report", "github.com/jstemmer/go-junit-report/v2"), reads: kinds(kindGoTest), args: at("go-junit-report", "-in", "FILE")},
	}
}

const peersDir = "internal/bench/peers"

func goBuild(name, pkg string) func(string) error {
	return func(dir string) error {
		return run(peersDir, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-o", filepath.Join(dir, name), pkg)
	}
}

func npm(dir string) error {
	if _, err := exec.LookPath("node"); err != nil {
		return err
	}
	for _, f := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(peersDir, f))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f), b, 0o644); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "junit-to-ctrf")); err == nil {
		return nil
	}
	return run(dir, nil, "npm", "ci", "--no-progress", "--no-fund", "--no-audit")
}

func run(dir string, env []string, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s %s: %w: %s", name, args[0], err, first)
	}
	return nil
}
