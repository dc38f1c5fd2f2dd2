package native

import (
	"fmt"
	"path"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// valgrindFormat reads the XML of Valgrind's memcheck, helgrind and drd. One
// run is one test, which passed if the tool found no error.
var valgrindFormat = format.Format{Name: "valgrind", Order: 130, Opens: []string{"valgrindoutput"}, Detect: xmlstream.DetectRoot("valgrindoutput"), Document: readValgrind}

type valgrindReader struct {
	*xmlstream.Doc
	t       model.Test
	tool    string
	xmlFile string
	state   string
	errors  int
}

func readValgrind(d *format.Document) error {
	r := &valgrindReader{Doc: xmlstream.NewDoc(d, "Valgrind")}
	return r.Roots(r.run, "valgrindoutput")
}

func (r *valgrindReader) run(tok xmlstream.Token) error {
	r.t, r.tool, r.xmlFile, r.state, r.errors = model.Test{Status: model.Passed, At: tok.Line}, "memcheck", "", "", 0
	err := r.Children(r.part)
	t := &r.t
	if t.Name = r.xmlFile; t.Name == "" {
		t.Name = r.tool
	}
	switch {
	case r.errors > 0:
		t.Status = model.Failed
		if r.errors > 1 {
			t.Message = fmt.Sprintf("%s (and %d further errors)", t.Message, r.errors-1)
		}
	case err != nil:
		return err
	case r.state == "":
		return nil // it never ran
	}
	r.Test(*t)
	return err
}

func (r *valgrindReader) part(tok xmlstream.Token) error {
	switch tok.Name {
	case "tool", "protocoltool":
		return r.Into(&r.tool)
	case "args":
		return r.args()
	case "error":
		return r.failure(tok)
	case "fatal_signal":
		return r.signal(tok)
	case "status":
		r.state = ""
		return r.Fields(map[string]*string{"state": &r.state})
	}
	return r.XML.Skip()
}

// args reads the command lines of Valgrind and of the program.
func (r *valgrindReader) args() error {
	return r.Children(func(tok xmlstream.Token) error {
		if tok.Name != "vargv" && tok.Name != "argv" {
			return r.XML.Skip()
		}
		own := tok.Name == "vargv"
		return r.Children(func(tok xmlstream.Token) error {
			s, err := r.Content()
			if f, ok := strings.CutPrefix(s, "--xml-file="); ok && own && !strings.Contains(f, "%") {
				r.xmlFile = strings.TrimSuffix(path.Base(strings.ReplaceAll(f, "\\", "/")), ".xml")
			}
			if !own && tok.Name == "exe" {
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
	err = r.Children(func(tok xmlstream.Token) error {
		if tok.Name != "frame" {
			return r.XML.Skip()
		}
		var f valgrindFrame
		err := r.Fields(map[string]*string{"ip": &f.ip, "obj": &f.obj, "fn": &f.fn, "dir": &f.dir, "file": &f.file, "line": &f.line})
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
		fmt.Fprintf(&b, "   %s %s: %s (%s)\n", at, f.ip, parse.FirstOf(f.fn, "???"), where)
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
		parse.HasAny(f.obj, "/vgpreload_", "/lib/x86_64-linux-gnu/", "/usr/lib/", "/usr/lib64/", "/lib64/", "ld-linux", "libc.so", "libstdc++")
}

// failure reads an <error>.
func (r *valgrindReader) failure(tok xmlstream.Token) error {
	var kind, what string
	var trace strings.Builder
	var place valgrindFrame
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "kind":
			return r.Into(&kind)
		case "what":
			return r.Into(&what)
		case "xwhat":
			return r.Fields(map[string]*string{"text": &what})
		case "auxwhat":
			var s string
			err := r.Into(&s)
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
		return r.XML.Skip()
	})
	r.errors++
	t := &r.t
	if r.errors == 1 {
		t.Type, t.Message, t.At = kind, parse.FirstOf(what, kind, "an error"), tok.Line
		t.Kind = model.KindError
		if kind == "Race" || kind == "ConflictingAccess" {
			t.Kind = model.KindRace
		}
		t.File, t.Line = place.file, max(0, parse.Declared(place.line))
		if place.dir != "" && place.file != "" {
			t.File = path.Join(place.dir, place.file)
		}
	}
	if len(t.Trace) < r.Limits.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n\n" + what + "\n" + strings.TrimRight(bounded.CutText(trace.String(), r.Limits.Text), "\n"))
	}
	return err
}

// signal reads what ended the program. It is no error of the tool's, which may
// have found none.
func (r *valgrindReader) signal(tok xmlstream.Token) error {
	var name, event string
	var stack string
	var place valgrindFrame
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "signame":
			return r.Into(&name)
		case "event":
			return r.Into(&event)
		case "stack":
			var err error
			stack, place, err = r.frames()
			return err
		}
		return r.XML.Skip()
	})
	p := model.Problem{Kind: model.KindCrash, Name: r.t.Suite, At: tok.Line, Trace: stack, File: place.file, Line: max(0, parse.Declared(place.line))}
	p.Message = strings.TrimSpace("the program was ended by " + parse.FirstOf(name, "a signal") + " " + event)
	if place.dir != "" && place.file != "" {
		p.File = path.Join(place.dir, place.file)
	}
	r.Problem(p)
	return err
}
