package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/bot/config"
)

// Bounds of what is looked at.
const (
	deepest      = 4       // folders below the root
	mostFolders  = 5000    // that are read
	mostProjects = 16      // that have a job each
	mostFile     = 1 << 20 // bytes of a file that are read
)

// Step is a step of a job before its tests.
type Step struct {
	Name string
	Uses string // an action of actionpins, "" for a script
	With [][2]string
	Run  string
}

// Project is a folder whose tests one tool runs.
type Project struct {
	Dir    string // below the root with slashes; "." is the root
	Tool   string // as people call it
	ID     string // of its job
	By     string // the file that shows it
	Setup  []Step
	Run    string // the script that runs the tests
	Report string // path or glob of the output, below Dir

	covers bool // the tool runs what is below Dir too
}

// Where names the folder.
func (p Project) Where() string {
	if p.Dir == "." {
		return "the root"
	}
	return p.Dir
}

// Path is where the output is, from the root.
func (p Project) Path() string { return path.Join(p.Dir, p.Report) }

// Found is what a repository holds.
type Found struct {
	Projects  []Project
	Branch    string            // the default branch, as far as the checkout tells
	Workflows map[string]string // their names by path
	Present   map[string]bool   // files that would be in the way
	Cut       bool              // not every folder was read, or not every project has a job
	Unread    []string          // files that show a tool and could not be understood, each with why
}

// skipped are folders that hold what others wrote or what a build made.
var skipped = map[string]bool{
	"node_modules": true, "vendor": true, "third_party": true, "third-party": true, "testdata": true, "fixtures": true, "__fixtures__": true,
	"target": true, "build": true, "dist": true, "out": true, "bin": true, "obj": true, "venv": true, "env": true, "__pycache__": true,
	"site-packages": true, "Pods": true, "bower_components": true, "deps": true, "_build": true, "coverage": true, "tmp": true,
	"examples": true, "example": true, "samples": true,
}

// folderName are names of folders that may stand in a workflow as they are.
var folderName = regexp.MustCompile(`^[A-Za-z0-9_@][A-Za-z0-9_.@+-]*$`)

// Detect looks for the tools that run the tests of a repository. Folders below one that a tool
// covers, such as the modules of a Maven project, are not listed for that tool again.
func Detect(repo fs.FS) (Found, error) {
	f := Found{Branch: branch(repo), Workflows: map[string]string{}, Present: map[string]bool{}}
	if _, err := fs.ReadDir(repo, "."); err != nil {
		return f, err
	}
	if err := f.workflows(repo); err != nil {
		return f, err
	}
	d := detection{repo: repo}
	d.walk(".", 0, nil)
	f.Projects, f.Cut, f.Unread = d.found, d.cut, d.unread
	taken := map[string]int{}
	for i := range f.Projects {
		p := &f.Projects[i]
		p.ID = jobID(*p, len(f.Projects) == 1)
		if taken[p.ID]++; taken[p.ID] > 1 {
			p.ID += strings.Repeat("-again", taken[p.ID]-1)
		}
	}
	return f, nil
}

// workflows reads the names of the workflows, and which files are there.
func (f *Found) workflows(repo fs.FS) error {
	for _, name := range []string{config.Path, config.OtherPath, TestWorkflow, RouteWorkflow} {
		if _, err := fs.Lstat(repo, name); err == nil {
			f.Present[name] = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	entries, err := fs.ReadDir(repo, ".github/workflows")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name := ".github/workflows/" + e.Name()
		if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" {
			continue
		}
		f.Present[name] = true
		var w struct{ Name string }
		if yaml.Unmarshal([]byte(read(repo, name)), &w) != nil || w.Name == "" {
			w.Name = name // as GitHub names it
		}
		f.Workflows[name] = w.Name
	}
	return nil
}

// branch returns the default branch as the checkout knows it, else main.
func branch(repo fs.FS) string {
	for _, ref := range []string{".git/refs/remotes/origin/HEAD", ".git/HEAD"} {
		name := strings.TrimSpace(read(repo, ref))
		name = strings.TrimPrefix(strings.TrimPrefix(name, "ref: refs/heads/"), "ref: refs/remotes/origin/")
		if ref == ".git/HEAD" && name != "master" { // any branch may be checked out
			break
		}
		if folderName.MatchString(name) {
			return name
		}
	}
	return "main"
}

// read returns the beginning of a file, "" if it cannot be read.
func read(repo fs.FS, name string) string {
	file, err := repo.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostFile))
	if err != nil {
		return ""
	}
	return string(data)
}

// detection is one walk through a repository.
type detection struct {
	repo  fs.FS
	found []Project
	read  int // folders
	cut   bool

	unread []string
}

// walk looks into a folder and those below it. covered are the tools that run what is there.
func (d *detection) walk(dir string, depth int, covered []string) {
	if d.read++; d.read > mostFolders {
		d.cut = true
		return
	}
	entries, err := fs.ReadDir(d.repo, dir)
	if err != nil {
		return // a folder that cannot be read holds no tests that could be run
	}
	f := folder{repo: d.repo, dir: dir, files: map[string]bool{}, unread: &d.unread}
	var below []string
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir():
			f.files[name] = true
			f.names = append(f.names, name)
		case !skipped[name] && folderName.MatchString(name):
			below = append(below, path.Join(dir, name))
		}
	}
	for _, detect := range detectors {
		for _, p := range detect(f) {
			if slices.Contains(covered, p.Tool) {
				continue
			}
			if p.covers {
				covered = append(covered[:len(covered):len(covered)], p.Tool)
			}
			if len(d.found) == mostProjects {
				d.cut = true
				return
			}
			p.Dir = dir
			d.found = append(d.found, p)
		}
	}
	if depth == deepest {
		return
	}
	for _, name := range below {
		d.walk(name, depth+1, covered)
	}
}

var notID = regexp.MustCompile(`[^a-z0-9]+`)

// jobID names the job of a project: test if it is the only one, else its folder and tool.
func jobID(p Project, only bool) string {
	if only {
		return "test"
	}
	id := p.Tool
	if p.Dir != "." {
		id = p.Dir + "-" + id
	}
	id = strings.Trim(notID.ReplaceAllString(strings.ToLower(id), "-"), "-")
	if id[0] >= '0' && id[0] <= '9' {
		id = "in-" + id
	}
	return id
}

// folder is what a detector looks at.
type folder struct {
	repo  fs.FS
	dir   string
	files map[string]bool
	names []string // of files, sorted

	unread *[]string // of the walk
}

// decode reads a JSON file, and records one that is not valid.
func (f folder) decode(name string, out any) bool {
	text := f.text(name)
	err := json.Unmarshal([]byte(text), out)
	if err == nil {
		return true
	}
	at := path.Join(f.dir, name)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = fmt.Sprintf("%s:%d", at, 1+strings.Count(text[:min(int(syntax.Offset), len(text))], "\n"))
	}
	*f.unread = append(*f.unread, fmt.Sprintf("%s: %v", at, err))
	return false
}

func (f folder) has(names ...string) bool { return f.first(names...) != "" }

// first returns the first of names that is a file of the folder, "" if none is.
func (f folder) first(names ...string) string {
	for _, n := range names {
		if f.files[n] {
			return n
		}
	}
	return ""
}

func (f folder) text(name string) string {
	if !f.files[name] {
		return ""
	}
	return read(f.repo, path.Join(f.dir, name))
}

// match returns the files that a glob matches.
func (f folder) match(glob string) []string {
	var out []string
	for _, n := range f.names {
		if ok, _ := path.Match(glob, n); ok { // the globs are constants
			out = append(out, n)
		}
	}
	return out
}

// mention returns the first of the files that holds a text, "" if none does.
func (f folder) mention(text string, names ...string) string {
	for _, n := range names {
		if strings.Contains(f.text(n), text) {
			return n
		}
	}
	return ""
}

// above returns the first of names that is in the folder or one above it.
func (f folder) above(names ...string) string {
	for dir := f.dir; ; dir = path.Dir(dir) {
		for _, n := range names {
			if _, err := fs.Stat(f.repo, path.Join(dir, n)); err == nil {
				return n
			}
		}
		if dir == "." {
			return ""
		}
	}
}
