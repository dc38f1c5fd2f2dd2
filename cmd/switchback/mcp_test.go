package main

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/internal/sample"
)

// TestMCP is S5-101 on standard input and output.
func TestMCP(t *testing.T) {
	t.Parallel()
	where := filepath.Join(t.TempDir(), "ledger")
	led, err := ledger.OpenPath(where)
	if err != nil {
		t.Fatal(err)
	}
	made := slices.Collect(sample.Cases(sample.Options{Seed: 5, Cases: 3, End: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}))
	for _, s := range made[:2] {
		if _, err := led.Append(t.Context(), s.Key, "", s.Events); err != nil {
			t.Fatal(err)
		}
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int)
	go func() {
		code := execute(t.Context(), []string{"mcp", "--ledger", where}, streams{in, out, &errs}, func(string) string { return "" })
		_ = out.Close()
		ended <- code
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := func() string {
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_cases"})
		if err != nil {
			t.Fatal(err)
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	t.Run("S5-101 the cases of a ledger, also those that come later", func(t *testing.T) {
		text := list()
		if !strings.Contains(text, made[0].Key) || !strings.Contains(text, made[1].Key) {
			t.Fatal(text)
		}
		if _, err := led.Append(t.Context(), made[2].Key, "", made[2].Events); err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(list(), made[2].Key) && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	})
	t.Run("S5-101 it ends with its client", func(t *testing.T) {
		_ = c.Close()
		_ = toServer.Close()
		if code := <-ended; code != 0 || errs.Len() > 0 {
			t.Errorf("%d %s", code, errs.String())
		}
	})
}

func TestMCPRefuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"give one":           {"--repo", "acme/shop", "--ledger", "x"},
		"GITHUB_TOKEN":       {"--repo", "acme/shop"},
		"--repo":             {"--repo", "shop"},
		"name it with --led": {"--ledger", filepath.Join(t.TempDir(), "none")},
	} {
		var out, errs bytes.Buffer
		code := execute(t.Context(), append([]string{"mcp"}, args...), streams{strings.NewReader(""), &out, &errs}, func(string) string { return "" })
		if code == 0 || out.Len() > 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: %d %s%s, want %q", args, code, out.String(), errs.String(), want)
		}
	}
}
