package testreport

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// registered is what Register and registerCatalogue were given. A snapshot is
// never changed, so that readers need no lock.
type registered struct {
	formats    []*format // in their order
	catalogues []catalogue
	roots      map[string]bool // of XML documents that may stand in a log
	keys       map[string]bool // first keys of JSON documents that may
}

// catalogue is a set of formats that are read only where they are named.
type catalogue struct {
	prefix  string
	formats func() map[string]*format
}

var (
	registering sync.Mutex
	known       atomic.Pointer[registered]
)

// Register makes formats known, as a rule in the init function of the package
// that reads them. It panics if a format has no name, one that is taken, or not
// exactly one of document and console. Inputs that are being read do not see it.
func Register(formats ...format) {
	registering.Lock()
	defer registering.Unlock()
	old := snapshot()
	next := &registered{formats: slices.Clone(old.formats), catalogues: old.catalogues, roots: map[string]bool{}, keys: map[string]bool{}}
	for _, f := range formats {
		if err := check(next.formats, &f); err != nil {
			panic("testreport: " + err.Error())
		}
		next.formats = append(next.formats, &f)
	}
	slices.SortStableFunc(next.formats, func(a, b *format) int { return rank(a) - rank(b) })
	for _, f := range next.formats {
		for _, o := range f.opens {
			if f.leaves {
				next.keys[o] = true
			} else {
				next.roots[o] = true
			}
		}
	}
	known.Store(next)
}

func check(have []*format, f *format) error {
	switch {
	case f.name == "":
		return fmt.Errorf("a format has no name")
	case f.name == "auto" || slices.ContainsFunc(have, func(g *format) bool { return g.name == f.name }):
		return fmt.Errorf("the format name %q is taken", f.name)
	case (f.document == nil) == (f.console == nil):
		return fmt.Errorf("the format %q must read either documents or lines", f.name)
	case f.document != nil && f.detect == nil:
		return fmt.Errorf("the format %q reads documents and does not say which", f.name)
	}
	return nil
}

func rank(f *format) int {
	if f.order == 0 {
		return math.MaxInt
	}
	return f.order
}

// registerCatalogue makes formats known that are read only where they are
// named, as NAME or, where a registered format has that name, as PREFIX:NAME.
// They are made with the first look at them.
func registerCatalogue(prefix string, formats func() map[string]*format) {
	registering.Lock()
	defer registering.Unlock()
	next := *snapshot()
	next.catalogues = append(slices.Clone(next.catalogues), catalogue{prefix, formats})
	known.Store(&next)
}

func snapshot() *registered {
	if r := known.Load(); r != nil {
		return r
	}
	return &registered{}
}

// allFormats returns the registered formats in their order. It is not to be changed.
func allFormats() []*format { return snapshot().formats }

// formatNamed returns the registered format of that name, nil if there is none.
func formatNamed(name string) *format {
	for _, f := range allFormats() {
		if f.name == name {
			return f
		}
	}
	return nil
}

// catalogued returns the format that a catalogue has under that name, with or
// without its prefix; nil if none has.
func catalogued(name string) *format {
	for _, c := range snapshot().catalogues {
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
	for _, f := range allFormats() {
		names = append(names, f.name)
	}
	for _, c := range snapshot().catalogues {
		for name := range c.formats() {
			if formatNamed(name) != nil {
				name = c.prefix + ":" + name
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// embeddedRoots returns the names of the root elements by which a line of a log
// starts an XML document. It is not to be changed.
func embeddedRoots() map[string]bool { return snapshot().roots }

// embeddedKeys returns the keys with which a JSON document inside a log may
// begin; a brace or bracket before any other is not looked at further. It is
// not to be changed.
func embeddedKeys() map[string]bool { return snapshot().keys }
