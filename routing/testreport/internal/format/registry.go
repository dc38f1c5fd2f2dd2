package format

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Surest returns the format among those that may be, which is the surest of a
// document with this head; nil if none is sure enough.
func Surest(head []byte, may func(f *Format) bool) *Format {
	var best *Format
	sure := 49
	for _, f := range All() {
		if !may(f) {
			continue
		}
		if n := f.Detect(head); n > sure {
			best, sure = f, n
		}
	}
	return best
}

// snapshot is what Register and RegisterCatalogue were given. A snapshot is
// never changed, so that readers need no lock.
type snapshot struct {
	formats    []*Format // in their order
	catalogues []catalogue
	roots      map[string]bool // of XML documents that may stand in a log
	keys       map[string]bool // first keys of JSON documents that may
}

// catalogue is a set of formats that are read only where they are named.
type catalogue struct {
	prefix  string
	formats func() map[string]*Format
}

var (
	registering sync.Mutex
	known       atomic.Pointer[snapshot]
)

// Register makes formats known, as a rule in the init function of the package
// that reads them. It panics if a format has no name, one that is taken, or not
// exactly one of document and console. Inputs that are being read do not see it.
func Register(formats ...Format) {
	registering.Lock()
	defer registering.Unlock()
	old := current()
	next := &snapshot{formats: slices.Clone(old.formats), catalogues: old.catalogues, roots: map[string]bool{}, keys: map[string]bool{}}
	for _, f := range formats {
		if err := check(next.formats, &f); err != nil {
			panic("testreport: " + err.Error())
		}
		next.formats = append(next.formats, &f)
	}
	slices.SortStableFunc(next.formats, func(a, b *Format) int { return rank(a) - rank(b) })
	for _, f := range next.formats {
		for _, o := range f.Opens {
			if f.SelfDelimiting {
				next.keys[o] = true
			} else {
				next.roots[o] = true
			}
		}
	}
	known.Store(next)
}

func check(have []*Format, f *Format) error {
	switch {
	case f.Name == "":
		return fmt.Errorf("a format has no name")
	case f.Name == "auto" || slices.ContainsFunc(have, func(g *Format) bool { return g.Name == f.Name }):
		return fmt.Errorf("the format name %q is taken", f.Name)
	case (f.Document == nil) == (f.Console == nil):
		return fmt.Errorf("the format %q must read either documents or lines", f.Name)
	case f.Document != nil && f.Detect == nil:
		return fmt.Errorf("the format %q reads documents and does not say which", f.Name)
	}
	return nil
}

func rank(f *Format) int {
	if f.Order == 0 {
		return math.MaxInt
	}
	return f.Order
}

// RegisterCatalogue makes formats known that are read only where they are
// named, as NAME or, where a registered format has that name, as PREFIX:NAME.
// They are made with the first look at them.
func RegisterCatalogue(prefix string, formats func() map[string]*Format) {
	registering.Lock()
	defer registering.Unlock()
	next := *current()
	next.catalogues = append(slices.Clone(next.catalogues), catalogue{prefix, formats})
	known.Store(&next)
}

func current() *snapshot {
	if r := known.Load(); r != nil {
		return r
	}
	return &snapshot{}
}

// All returns the registered formats in their order. It is not to be changed.
func All() []*Format { return current().formats }

// Lookup returns the registered format of that name, nil if there is none.
func Lookup(name string) *Format {
	for _, f := range All() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Catalogued returns the format that a catalogue has under that name, with or
// without its prefix; nil if none has.
func Catalogued(name string) *Format {
	for _, c := range current().catalogues {
		if f := c.formats()[strings.TrimPrefix(name, c.prefix+":")]; f != nil {
			return f
		}
	}
	return nil
}

// Names returns the names of all formats that can be asked for, sorted. One of a
// catalogue whose name a registered format has is read as PREFIX:NAME.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	for _, c := range current().catalogues {
		for name := range c.formats() {
			if Lookup(name) != nil {
				name = c.prefix + ":" + name
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// EmbeddedRoots returns the names of the root elements by which a line of a log
// starts an XML document. It is not to be changed.
func EmbeddedRoots() map[string]bool { return current().roots }

// EmbeddedKeys returns the keys with which a JSON document inside a log may
// begin; a brace or bracket before any other is not looked at further. It is
// not to be changed.
func EmbeddedKeys() map[string]bool { return current().keys }
