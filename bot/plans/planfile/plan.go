// Package planfile reads the files of a plan, and says what content a port is about.
package planfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/switchback-ci/switchback/routing/plan"
)

// Name returns the name that a plan has in the ledger if it is given none: its
// path, with hyphens.
func Name(file string) string {
	name := strings.TrimLeft(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, path.Clean(filepath.ToSlash(file))), "._-")
	if name = name[:min(100, len(name))]; name == "" {
		return "ports"
	}
	return name
}

// noFile says what is wrong with what is no file.
const noFile = "is no file; put the port itself here"

// maxFile is the length of a file of a plan in bytes.
const maxFile = 1 << 20

// What is said of files that are none of a plan's.
var (
	errLong = fmt.Errorf("is longer than %d bytes; a port is a short text", maxFile)
	errLink = errors.New("is a link; put the port itself here")
)

// Load reads the plan in a folder, and all below it, or in one file. Files that
// begin with a dot, that are neither Markdown nor YAML, and READMEs without front
// matter are no ports. The error is a *port.Error if the plan is wrong, with all
// that is wrong: what cannot be read, and what the rest says.
func Load(name string) (plan.Plan, error) {
	files, wrong, err := read(name)
	if err != nil {
		return plan.Plan{}, err
	}
	return compile(files, wrong)
}

func compile(files []plan.File, wrong []plan.Problem) (plan.Plan, error) {
	p, err := plan.Compile(files)
	if len(wrong) == 0 {
		return p, err
	}
	var more *plan.Error
	if errors.As(err, &more) {
		wrong = append(wrong, more.Problems...)
		slices.SortStableFunc(wrong, func(a, b plan.Problem) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
	}
	return plan.Plan{}, &plan.Error{Problems: wrong}
}

// found is a file of a plan, or why it is none.
type found struct {
	path  string
	wrong string
	data  []byte
}

// read returns the files of a plan, and what is wrong with those that cannot be
// read.
func read(name string) (out []plan.File, wrong []plan.Problem, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	all := []found{{path: name}}
	if info.IsDir() {
		if all, err = list(name); err != nil {
			return nil, nil, err
		}
	} else if !info.Mode().IsRegular() {
		all[0].wrong = noFile
	}
	contents(all)
	for _, f := range all {
		switch {
		case f.wrong != "":
			wrong = append(wrong, plan.Problem{File: filepath.ToSlash(f.path), Message: f.wrong})
		case f.path == name || holds(f.path, f.data):
			out = append(out, plan.File{Name: filepath.ToSlash(f.path), Data: f.data})
		}
	}
	return out, wrong, nil
}

// list returns what may be a file of the plan in a folder, and what is wrong there. What is no file,
// such as a pipe, is wrong: to open it might take forever.
func list(name string) (out []found, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 { // it would be walked as if it were empty
		return []found{{path: name, wrong: "is a link; name the folder that it leads to"}}, nil
	}
	err = filepath.WalkDir(name, func(p string, d fs.DirEntry, err error) error {
		if p == name {
			return err
		}
		why := unfit(p, d, err)
		switch {
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case why != "":
			out = append(out, found{path: p, wrong: why})
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && isPort(d.Name()):
			out = append(out, found{path: p})
		}
		return nil
	})
	return out, err
}

// holds reports whether a file of a plan's folder holds ports, by its content.
func holds(name string, data []byte) bool {
	stem, _, _ := strings.Cut(strings.ToLower(filepath.Base(name)), ".")
	return stem != "readme" || plan.HasFrontMatter(data)
}

// isPort reports whether a file is one of a plan by its name.
func isPort(name string) bool {
	return slices.Contains([]string{".md", ".markdown", ".yml", ".yaml"}, strings.ToLower(path.Ext(name)))
}

// unfit says why a file or folder in a plan cannot be taken, "" if it can. A link
// would let a plan say other things than its repository does.
func unfit(p string, d fs.DirEntry, err error) string {
	switch {
	case err != nil:
		return reason(err)
	case d.Type()&fs.ModeSymlink != 0:
		if info, err := os.Stat(p); isPort(d.Name()) || err == nil && info.IsDir() {
			return errLink.Error()
		}
	case !d.IsDir() && !d.Type().IsRegular() && isPort(d.Name()):
		return noFile
	}
	return ""
}

// reason is an error without the name of the file, which stands before it.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return "cannot be read: " + pe.Err.Error()
	}
	return "cannot be read: " + err.Error()
}

// readers are how many files are read at once: to open a file takes longer than to read it, and on a
// disk that is far away much longer.
const readers = 8

// contents reads the files that nothing is wrong with.
func contents(all []found) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(readers, len(all)) {
		done.Go(func() {
			var buf bytes.Buffer // a file's content is copied out of it, as long as it is
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				if f := &all[i]; f.wrong == "" {
					if err := content(f.path, &buf); err != nil {
						f.wrong = err.Error()
					} else {
						f.data = bytes.Clone(buf.Bytes())
					}
				}
			}
		})
	}
	done.Wait()
}

// content reads a file of a plan, which is small, into buf. The error is a sentence about the file.
func content(name string, buf *bytes.Buffer) error {
	f, err := os.Open(name)
	if err != nil {
		return errors.New(reason(err))
	}
	defer f.Close()
	buf.Reset()
	n, err := buf.ReadFrom(io.LimitReader(f, maxFile+1))
	if err != nil {
		return errors.New(reason(err))
	}
	if n > maxFile {
		return errLong
	}
	return nil
}
