package testreport

import (
	"fmt"
	"path"
	"strings"
)

// valgrindFormat reads the XML of Valgrind's memcheck, helgrind and drd. One
// run is one test, which passed if the tool found no error.
var valgrindFormat = format{name: "valgrind", order: 130, opens: []string{"valgrindoutput"}, detect: detectRoot("valgrindoutput"), document: readValgrind}

type valgrindReader struct {
	*xmlDoc
	t       Test
	tool    string
	xmlFile string
	state   string
	errors  int
}

func readValgrind(d *document) error {
	r := &valgrindReader{xmlDoc: newXMLDoc(d, "Valgrind")}
	return r.roots(r.run, "valgrindoutput")
}

func (r *valgrindReader) run(tok xmlToken) error {
	r.t, r.tool, r.xmlFile, r.state, r.errors = Test{Status: Passed, At: tok.line}, "memcheck", "", "", 0
	err := r.children(r.part)
	t := &r.t
	if t.Name = r.xmlFile; t.Name == "" {
		t.Name = r.tool
	}
	switch {
	case r.errors > 0:
		t.Status = Failed
		if r.errors > 1 {
			t.Message = fmt.Sprintf("%s (and %d further errors)", t.Message, r.errors-1)
		}
	case err != nil:
		return err
	case r.state == "":
		return nil // it never ran
	}
	r.test(*t)
	return err
}

func (r *valgrindReader) part(tok xmlToken) error {
	switch tok.name {
	case "tool", "protocoltool":
		return r.into(&r.tool)
	case "args":
		return r.args()
	case "error":
		return r.failure(tok)
	case "fatal_signal":
		return r.signal(tok)
	case "status":
		r.state = ""
		return r.fields(map[string]*string{"state": &r.state})
	}
	return r.x.skip()
}

// args reads the command lines of Valgrind and of the program.
func (r *valgrindReader) args() error {
	return r.children(func(tok xmlToken) error {
		if tok.name != "vargv" && tok.name != "argv" {
			return r.x.skip()
		}
		own := tok.name == "vargv"
		return r.children(func(tok xmlToken) error {
			s, err := r.content()
			if f, ok := strings.CutPrefix(s, "--xml-file="); ok && own && !strings.Contains(f, "%") {
				r.xmlFile = strings.TrimSuffix(path.Base(strings.ReplaceAll(f, "\\", "/")), ".xml")
			}
			if !own && tok.name == "exe" {
				r.t.Suite = s
			}
			return err
		})
	})
}

// valgrindFrame is one frame of a stack.
type valgrindFrame struct{ ip, obj, fn, dir, file, line string }

// frames reads a <stack> and returns it as Valgrind prints it, with the first
// frame of the program itself.
func (r *valgrindReader) frames() (text string, place valgrindFrame, err error) {
	var b strings.Builder
	n := 0
	err = r.children(func(tok xmlToken) error {
		if tok.name != "frame" {
			return r.x.skip()
		}
		var f valgrindFrame
		err := r.fields(map[string]*string{"ip": &f.ip, "obj": &f.obj, "fn": &f.fn, "dir": &f.dir, "file": &f.file, "line": &f.line})
		if n++; n > 100 {
			return err
		}
		where := f.file + ":" + f.line
		if f.file == "" {
			where = "in " + f.obj
		}
		at := "by"
		if n == 1 {
			at = "at"
		}
		fmt.Fprintf(&b, "   %s %s: %s (%s)\n", at, f.ip, firstOf(f.fn, "???"), where)
		if place.file == "" && f.file != "" && !valgrindOwn(f) {
			place = f
		}
		return err
	})
	return b.String(), place, err
}

// valgrindOwn tells of a frame in Valgrind's replacements or in a system library.
func valgrindOwn(f valgrindFrame) bool {
	return strings.HasPrefix(f.file, "vg_replace") || strings.HasPrefix(f.file, "mc_replace") || strings.HasPrefix(f.file, "hg_intercepts") || strings.HasPrefix(f.file, "drd_pthread") ||
		hasAny(f.obj, "/vgpreload_", "/lib/x86_64-linux-gnu/", "/usr/lib/", "/usr/lib64/", "/lib64/", "ld-linux", "libc.so", "libstdc++")
}

// failure reads an <error>.
func (r *valgrindReader) failure(tok xmlToken) error {
	var kind, what string
	var trace strings.Builder
	var place valgrindFrame
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "kind":
			return r.into(&kind)
		case "what":
			return r.into(&what)
		case "xwhat":
			return r.fields(map[string]*string{"text": &what})
		case "auxwhat":
			var s string
			err := r.into(&s)
			trace.WriteString(" " + s + "\n")
			return err
		case "stack":
			text, p, err := r.frames()
			trace.WriteString(text)
			if place.file == "" {
				place = p
			}
			return err
		}
		return r.x.skip()
	})
	r.errors++
	t := &r.t
	if r.errors == 1 {
		t.Type, t.Message, t.At = kind, firstOf(what, kind, "an error"), tok.line
		t.Kind = KindError
		if kind == "Race" || kind == "ConflictingAccess" {
			t.Kind = KindRace
		}
		t.File, t.Line = place.file, max(0, declared(place.line))
		if place.dir != "" && place.file != "" {
			t.File = path.Join(place.dir, place.file)
		}
	}
	if len(t.Trace) < r.lim.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n\n" + what + "\n" + strings.TrimRight(CutText(trace.String(), r.lim.Text), "\n"))
	}
	return err
}

// signal reads what ended the program. It is no error of the tool's, which may
// have found none.
func (r *valgrindReader) signal(tok xmlToken) error {
	var name, event string
	var stack string
	var place valgrindFrame
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "signame":
			return r.into(&name)
		case "event":
			return r.into(&event)
		case "stack":
			var err error
			stack, place, err = r.frames()
			return err
		}
		return r.x.skip()
	})
	p := Problem{Kind: KindCrash, Name: r.t.Suite, At: tok.line, Trace: stack, File: place.file, Line: max(0, declared(place.line))}
	p.Message = strings.TrimSpace("the program was ended by " + firstOf(name, "a signal") + " " + event)
	if place.dir != "" && place.file != "" {
		p.File = path.Join(place.dir, place.file)
	}
	r.problem(p)
	return err
}
