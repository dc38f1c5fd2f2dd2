package diagnosis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func TestExcerptOf(t *testing.T) {
	src := []byte("\xEF\xBB\xBFa\nb\r\nc\u202Ed\n\te\xff\n" + strings.Repeat("x", 5000) + "\nlast")
	e := ExcerptOf("f.go", src, 3, 1)
	if e == nil || e.Start != 2 || e.Mark != 3 || strings.Join(e.Lines, "|") != "b|cd|\te\uFFFD" {
		t.Fatalf("%+v", e)
	}
	if e := ExcerptOf("f.go", src, 6, 99); e == nil || e.Start != 1 || len(e.Lines) != 6 || len(e.Lines[4]) > 300 || e.Lines[5] != "last" {
		t.Fatalf("%+v", e)
	}
	if e := ExcerptOf("f.go", []byte("a\n b\x7f\x1fc\t \nd"), 2, -1); e == nil || e.Start != 2 || strings.Join(e.Lines, "|") != " bc" {
		t.Fatalf("%+v", e)
	}
	if e := ExcerptOf("f.go", []byte("a\nb\nc\n"), 1, 1); e == nil || e.Start != 1 || strings.Join(e.Lines, "|") != "a|b" {
		t.Fatalf("%+v", e)
	}
	if e := ExcerptOf("f.go", []byte(strings.Repeat("x\n", 60)), 30, 25); e == nil || e.Start != 10 || len(e.Lines) != 41 {
		t.Fatalf("%+v", e)
	}
	for name, e := range map[string]*routing.Excerpt{
		"line 0":   ExcerptOf("f", src, 0, 2),
		"past end": ExcerptOf("f", src, 7, 0),
		"far past": ExcerptOf("f", src, 70, 3),
		"binary":   ExcerptOf("f", []byte("a\x00b"), 1, 1),
		"empty":    ExcerptOf("f", nil, 1, 1),
	} {
		if e != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
