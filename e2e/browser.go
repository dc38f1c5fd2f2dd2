package e2e

import (
	"maps"
	"testing"

	"github.com/switchback-ci/switchback/internal/browser"
)

// Browser is Chromium, driven by Playwright.
type Browser struct{ *browser.Browser }

// Tab is a window of its own, with its own cookies.
type Tab struct {
	b    *browser.Browser
	tb   testing.TB
	name string
	with map[string]any // how it is opened
}

// NewBrowser starts a browser that ends with the test. It needs no bench.
func NewBrowser(tb testing.TB) Browser {
	tb.Helper()
	root, err := moduleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	b, err := browser.Start(root, startCmd)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return Browser{b}
}

// Tab returns a new window. With says how it is opened: zone, script.
func (b Browser) Tab(tb testing.TB, name string, with map[string]any) *Tab {
	return &Tab{b.Browser, tb, name, with}
}

// do asks the browser for something, and fails the test unless it does it.
func (t *Tab) do(what string, args map[string]any, into any) {
	t.tb.Helper()
	all := maps.Clone(t.with)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, args)
	if err := t.b.Do(t.name, what, all, into); err != nil {
		t.tb.Fatal(err)
	}
}

// Open loads a page and returns its status.
func (t *Tab) Open(url string) (status int) {
	t.tb.Helper()
	t.do("open", map[string]any{"url": url}, &status)
	return status
}

// Show shows a page that no server has.
func (t *Tab) Show(html string) { t.tb.Helper(); t.do("show", map[string]any{"html": html}, nil) }

// Height returns how many pixels high an element is.
func (t *Tab) Height(at string) (n int) {
	t.tb.Helper()
	t.do("height", map[string]any{"at": at}, &n)
	return n
}

// Text returns what is read at a place.
func (t *Tab) Text(at string) (text string) {
	t.tb.Helper()
	t.do("text", map[string]any{"at": at}, &text)
	return text
}

// Count returns how many elements there are.
func (t *Tab) Count(at string) (n int) {
	t.tb.Helper()
	t.do("count", map[string]any{"at": at}, &n)
	return n
}

// Wait waits until an element has a text.
func (t *Tab) Wait(at, text string) {
	t.tb.Helper()
	t.do("wait", map[string]any{"at": at, "text": text}, nil)
}

// Click clicks on an element.
func (t *Tab) Click(at string) { t.tb.Helper(); t.do("click", map[string]any{"at": at}, nil) }

// Press presses a key.
func (t *Tab) Press(key string) { t.tb.Helper(); t.do("press", map[string]any{"text": key}, nil) }

// Focused returns the text of what has the focus.
func (t *Tab) Focused() (text string) { t.tb.Helper(); t.do("focused", nil, &text); return text }

// Look sets the width of the window, and light or dark.
func (t *Tab) Look(width, height int, scheme string) {
	t.tb.Helper()
	t.do("look", map[string]any{"width": width, "height": height, "scheme": scheme}, nil)
}

// Overflow returns by how many pixels the page is wider than the window.
func (t *Tab) Overflow() (n int) { t.tb.Helper(); t.do("overflow", nil, &n); return n }

// Picture takes a picture of the window, or of the whole page.
func (t *Tab) Picture(file string, whole bool) {
	t.tb.Helper()
	t.do("picture", map[string]any{"file": file, "whole": whole}, nil)
}

// Axe returns what axe-core finds wrong for people who use assistive technology.
func (t *Tab) Axe() (violations []string) {
	t.tb.Helper()
	t.do("axe", nil, &violations)
	return violations
}

// Errors returns what the console said since it was asked last.
func (t *Tab) Errors() (list []string) { t.tb.Helper(); t.do("errors", nil, &list); return list }

// Origins returns the origins that anything was asked of.
func (t *Tab) Origins() (list []string) { t.tb.Helper(); t.do("origins", nil, &list); return list }
