package failtext

import (
	"path"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// NodeCrashes collects what node prints of an error that ends a process: the place, the line of
// code, the error and its stack. Test runners print it before they say which file failed, and then
// say no more than that.
type NodeCrashes struct {
	all  []NodeCrash
	open bool
	cur  []string
}

// NodeCrash is one error that ended a process of node.
type NodeCrash struct {
	Message string
	File    string // as printed, without "file://"; "" for a place inside node
	Line    int
	Text    string
	used    bool
}

const (
	maxCrashes    = 200
	maxCrashLines = 60
)

// Open reports whether the lines of an error are being read.
func (c *NodeCrashes) Open() bool { return c.open }

// Starts reports whether t may be the place that node prints first.
func (c *NodeCrashes) Starts(t string) bool {
	if !strings.HasPrefix(t, "/") && !strings.HasPrefix(t, "file://") && !strings.HasPrefix(t, "node:") {
		return false
	}
	i := strings.LastIndexByte(t, ':')
	_, rest, ok := parse.LeadingInt(t[i+1:])
	return ok && rest == "" && !strings.Contains(t, " ")
}

// Line takes a line of a log.
func (c *NodeCrashes) Line(t string) {
	switch {
	case c.Starts(t):
		c.end()
		c.open, c.cur = true, append(c.cur[:0], t)
	case !c.open:
	case strings.HasPrefix(t, "Node.js v") || len(c.cur) >= maxCrashLines:
		c.end()
	default:
		c.cur = append(c.cur, t)
	}
}

func (c *NodeCrashes) end() {
	lines := c.cur
	if !c.open || len(lines) < 2 || len(c.all) >= maxCrashes {
		c.open = false
		return
	}
	c.open = false
	crash := NodeCrash{Text: strings.Join(lines, "\n")}
	for i, l := range lines[1:] {
		if typ := JSErrorType(l); typ != "" && l[0] != ' ' {
			crash.Message = FailureHead(strings.Join(lines[i+1:], "\n"))
			break
		}
	}
	if crash.Message == "" {
		return
	}
	if head, _, ok := strings.Cut(crash.Message, "\nRequire stack:"); ok {
		crash.Message = head
	}
	for _, l := range append([]string{"at " + lines[0] + ":1"}, lines[1:]...) {
		if file, line, _, ok := JSFrame(l); ok && !parse.Foreign(file) {
			crash.File, crash.Line = strings.TrimPrefix(file, "file://"), line
			break
		}
	}
	c.all = append(c.all, crash)
}

// Of returns the error that ended the process of a file.
func (c *NodeCrashes) Of(file string) (NodeCrash, bool) {
	for range 2 {
		for i := range c.all {
			if k := &c.all[i]; !k.used && strings.Contains(k.Text, path.Base(file)) {
				k.used = true
				return *k, true
			}
		}
		c.end() // it may be the one being read, which the next file's is not to be
	}
	return NodeCrash{}, false
}
