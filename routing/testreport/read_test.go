package testreport_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

func TestErrorformatByName(t *testing.T) {
	rep, err := reader.Parse(strings.NewReader("a.go:7: x\nb.go:8:3: y\nexit status 1\n"), model.Options{Format: "govet"})
	if err != nil || len(rep.Diagnostics) != 2 || rep.Diagnostics[1].Column != 3 || rep.Formats[0] != "govet" {
		t.Fatalf("%v %+v", err, rep)
	}
	for _, n := range []string{"eslint", "errorformat:eslint"} {
		if _, err := reader.Parse(strings.NewReader("x"), model.Options{Format: n}); err != nil && !errors.Is(err, model.ErrUnknownFormat) {
			t.Error(err)
		}
	}
	if _, err := reader.Parse(strings.NewReader("x"), model.Options{Format: "no-such"}); err == nil || errors.Is(err, model.ErrUnknownFormat) {
		t.Error("an unknown name is taken")
	}
}
