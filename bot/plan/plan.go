// Package plan reads the files of a plan, and says what content a port is about.
package plan

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/port"
)

// maxFile is the length of a file of a plan in bytes.
const maxFile = 1 << 20

// Load reads the plan in a folder, and all below it, or in one file. Files that
// begin with a dot, that are neither Markdown nor YAML, and READMEs without front
// matter are no ports. The error is a *port.Error if the plan is wrong.
func Load(name string) (port.Plan, error) {
	files, err := read(name)
	if err != nil {
		return port.Plan{}, err
	}
	return port.Compile(files)
}

func read(name string) ([]port.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := content(name)
		return []port.File{{Name: filepath.ToSlash(name), Data: data}}, err
	}
	var out []port.File
	var wrong []port.Problem
	err = filepath.WalkDir(name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != name && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || !slices.Contains([]string{".md", ".markdown", ".yml", ".yaml"}, strings.ToLower(path.Ext(d.Name()))):
			return nil
		case !d.Type().IsRegular():
			wrong = append(wrong, port.Problem{File: filepath.ToSlash(p), Message: "is no file but a link; put the port itself here"})
			return nil
		}
		data, err := content(p)
		if err != nil {
			return err
		}
		if stem, _, _ := strings.Cut(strings.ToLower(d.Name()), "."); stem != "readme" || port.HasFrontMatter(data) {
			out = append(out, port.File{Name: filepath.ToSlash(p), Data: data})
		}
		return nil
	})
	if err == nil && len(wrong) > 0 {
		return nil, &port.Error{Problems: wrong}
	}
	return out, err
}

// content returns a file of a plan, which is small.
func content(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(bufio.NewReader(f), maxFile+1))
	if err != nil {
		return nil, err
	}
	if n > maxFile {
		return nil, &port.Error{Problems: []port.Problem{{File: filepath.ToSlash(name), Message: fmt.Sprintf("is longer than %d bytes; a port is a short text", maxFile)}}}
	}
	return b.Bytes(), nil
}
