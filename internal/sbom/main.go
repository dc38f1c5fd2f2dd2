// Command sbom writes the software bill of materials of a release as CycloneDX 1.6: the modules that
// the linker recorded in its binaries. The same binaries give the same document, so it holds neither
// a time nor a serial number.
//
//	go run ./internal/sbom v1.2.3 dist/switchback ...
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// document is the part of CycloneDX 1.6 that is written.
type document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// dependency says what a component needs. A binary records which modules are in it, and not which of
// them needs which, so all are needed by the program.
type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION BINARY...")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the document of the binaries of a version, which share most of their modules.
func write(w io.Writer, version string, binaries []string) error {
	parts := map[string]component{}
	var program component
	for _, name := range binaries {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		program = module("application", info.Main.Path, version, "")
		add(parts, module("library", "stdlib", strings.TrimPrefix(info.GoVersion, "go"), ""))
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			add(parts, module("library", m.Path, m.Version, m.Sum))
		}
	}
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{program}, Components: []component{}}
	needs := dependency{Ref: program.Ref, DependsOn: []string{}}
	for _, c := range parts {
		d.Components = append(d.Components, c)
	}
	slices.SortFunc(d.Components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	for _, c := range d.Components {
		needs.DependsOn = append(needs.DependsOn, c.Ref)
	}
	d.Dependencies = []dependency{needs}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

func add(parts map[string]component, c component) { parts[c.Ref] = c }

// module describes a Go module. sum is that of go.sum: the digest of a tree, which CycloneDX has no
// field for.
func module(kind, path, version, sum string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Ref: purl, Type: kind, Name: path, Version: version, PURL: purl}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
