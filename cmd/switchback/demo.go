package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/judge"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnose"
)

// recordings are the output of the real go test; demo/record.sh made them.
//
//go:embed demo/*.txt
var recordings embed.FS

// scene is one run of the demo's pull request.
type scene struct {
	title, file, sha string
}

// stories are the pull requests of the demo, each with its runs.
var stories = []struct {
	key, title string
	scenes     []scene
}{
	{"acme/shop#7", "Pull request #7 adds coupons. Its worker mends what comes back.", []scene{
		{"The first push: the coupon code is a stub.", "1-not-implemented.txt", "1f0c3d5e7a9b2c4d6e8f0a1b3c5d7e9f0a2b4c6d"},
		{"The second push fails differently: one case is mended, two are wrong.", "2-wrong-result.txt", "2a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b"},
		{"The third push passes.", "3-pass.txt", "3c5d7e9f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d"},
	}},
	{"acme/shop#8", "Pull request #8 fails for a reason that no rework can mend.", []scene{
		{"The stock service does not answer: a human is called at once, no turn is spent.", "4-environment.txt", "4e6f8a0b2c4d6e8f0a1b3c5d7e9f1a3b5c7d9e0f"},
	}},
	{"acme/shop#9", "Pull request #9 keeps failing. With max_iterations 3 the fourth failing run calls a human.", []scene{
		{"Turn 1.", "2-wrong-result.txt", "5a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
		{"Turn 2: the same again.", "2-wrong-result.txt", "6b1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
		{"Turn 3: the same again.", "2-wrong-result.txt", "7c1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
		{"And once more: the turns are used up.", "2-wrong-result.txt", "8d1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
	}},
}

func demoCommand(s streams) *cobra.Command {
	var dir string
	var quiet bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Tell the story of three pull requests from recorded test output",
		Long:  "Route recorded output of real test runs through the real pipeline, with a ledger\nin a directory and nothing else: no account, no network. Prints what would be posted.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				tmp, err := os.MkdirTemp("", "switchback-demo-")
				if err != nil {
					return failed(err)
				}
				defer os.RemoveAll(tmp)
				dir = tmp
			}
			return runDemo(c.Context(), s, dir, quiet)
		},
	}
	c.Flags().StringVar(&dir, "ledger", "", "keep the ledger in this directory (default: a temporary one)")
	c.Flags().BoolVar(&quiet, "quiet", false, "print the decisions without what would be posted")
	return c
}

func runDemo(ctx context.Context, s streams, dir string, quiet bool) error {
	led, err := ledger.OpenPath(dir)
	if err != nil {
		return failed(err)
	}
	now := time.Date(2026, 1, 12, 9, 0, 0, 0, time.UTC)
	line := &pipeline.Line{Ledger: led, Now: func() time.Time { return now }}
	run := 0
	for _, st := range stories {
		banner(s.out, "═", st.title)
		for _, sc := range st.scenes {
			run++
			now = now.Add(17 * time.Minute)
			if err := playScene(ctx, s, line, st.key, sc, run, quiet); err != nil {
				return failed(err)
			}
		}
	}
	banner(s.out, "═", "The ledger holds every event of it.")
	keys, err := led.Keys(ctx)
	if err != nil {
		return failed(err)
	}
	for _, k := range keys {
		events, _, err := led.Load(ctx, k)
		if err != nil {
			return failed(err)
		}
		c, err := routing.Fold(k, events)
		if err != nil {
			return failed(err)
		}
		fmt.Fprintln(s.out, render.Details(c, render.Options{Redact: diagnose.Redact}))
	}
	return nil
}

func playScene(ctx context.Context, s streams, line *pipeline.Line, key string, sc scene, n int, quiet bool) error {
	banner(s.out, "─", sc.title)
	out, err := judge.Judge(judge.Input{
		Sources:    []judge.Source{{Name: sc.file, Open: func() (io.ReadCloser, error) { return recordings.Open("demo/" + sc.file) }}},
		Conclusion: map[bool]string{true: "success", false: "failure"}[strings.Contains(sc.file, "pass")],
		ReadFile:   demoFile,
	})
	if err != nil {
		return err
	}
	v := out.Verdict
	v.Checkpoint = "unit"
	v.Run = routing.Run{Repository: repositoryOf(key), ID: fmt.Sprint(1000 + n), Attempt: 1, SHA: sc.sha, URL: fmt.Sprintf("https://github.com/%s/actions/runs/%d", repositoryOf(key), 1000+n)}
	rec, err := line.Record(ctx, key, v, policies(config.File{}, key))
	if err != nil {
		return err
	}
	o := render.Options{Repo: repositoryOf(key), Mention: "@octocat", Redact: diagnose.Redact}
	fmt.Fprintf(s.out, "%d tests: %d passed, %d failed, %d skipped; %s %s\n", v.Counts.Tests, v.Counts.Passed, v.Counts.Failed, v.Counts.Skipped, v.Result, v.Class)
	fmt.Fprint(s.out, render.Text(key+"/unit", rec.Decision, o))
	if quiet {
		return nil
	}
	for _, e := range rec.Decision.Effects {
		if e.Kind != routing.EffectComment && e.Kind != routing.EffectIssue {
			continue
		}
		shown := show(rec.Case, e, o)
		what := "the sticky comment of the pull request"
		if e.Kind == routing.EffectIssue {
			what = "an issue: " + shown.Title
		}
		fmt.Fprintf(s.out, "\n┌ would post %s\n%s\n└\n", what, indent(shown.Body, "│ "))
	}
	return nil
}

// demoFile gives the demo's one file at any commit: the tests do not change.
func demoFile(name string) ([]byte, error) {
	if name != "coupon_test.go" {
		return nil, os.ErrNotExist
	}
	return recordings.ReadFile("demo/coupon_test.go.txt")
}

func banner(w io.Writer, line, text string) {
	fmt.Fprintf(w, "\n%s\n%s\n%s\n", strings.Repeat(line, 78), text, strings.Repeat(line, 78))
}

func indent(text, prefix string) string {
	var b bytes.Buffer
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(strings.TrimRight(prefix+l, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
