package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/redact"
)

// recordings are the output of the real go test; demo/record.sh made them.
//
//go:embed demo/*.txt
var recordings embed.FS

// scene is one run of a pull request of the demo.
type scene struct {
	title, file, sha string
}

// stories are the pull requests of the demo, each with its runs.
var stories = []struct {
	key, title string
	scenes     []scene
}{
	{"acme/shop#7", "Pull request #7 adds coupons. Its author fixes what is returned.", []scene{
		{"The first push: the coupon code is a stub.", "1-not-implemented.txt", "1f0c3d5e7a9b2c4d6e8f0a1b3c5d7e9f0a2b4c6d"},
		{"The second push fails differently: one case is fixed, two are wrong.", "2-wrong-result.txt", "2a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b"},
		{"The third push passes.", "3-pass.txt", "3c5d7e9f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d"},
	}},
	{"acme/shop#8", "Pull request #8 fails for a reason that no fix to its code can change.", []scene{
		{"The stock service does not answer: an escalation opens at once, no fix attempt is spent.", "4-environment.txt", "4e6f8a0b2c4d6e8f0a1b3c5d7e9f1a3b5c7d9e0f"},
	}},
	{"acme/shop#9", "Pull request #9 keeps failing. With max_iterations 3 the fourth failing run opens an escalation.", []scene{
		{"Fix attempt 1.", "2-wrong-result.txt", "5a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
		{"Fix attempt 2: the same again.", "2-wrong-result.txt", "6b1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
		{"Fix attempt 3: the same again.", "2-wrong-result.txt", "7c1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
		{"And once more: no fix attempt is left.", "2-wrong-result.txt", "8d1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"},
	}},
}

func demoCommand(s streams) *cobra.Command {
	var dir, write string
	var quiet, posts bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show what happens to three pull requests, from recorded test output",
		Long: `Route the recorded output of real test runs through the real pipeline, with a ledger in a directory
and nothing else: no account, no network. --posts also prints what would be posted.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				tmp, err := os.MkdirTemp("", "switchback-demo-")
				if err != nil {
					return failed(err)
				}
				defer os.RemoveAll(tmp)
				dir = tmp
			}
			d := &demo{s: s, quiet: quiet, posts: posts && !quiet, write: write, now: time.Date(2026, 1, 12, 9, 0, 0, 0, time.UTC)}
			return d.run(c.Context(), dir)
		},
	}
	c.Flags().StringVar(&dir, "ledger", "", "keep the ledger in this directory; default: a temporary one")
	c.Flags().StringVar(&write, "write", "", "also write each post as a Markdown file into this directory")
	c.Flags().BoolVar(&posts, "posts", false, "also print each post in full")
	c.Flags().BoolVar(&quiet, "quiet", false, "print the decisions only")
	return c
}

// demo routes the runs of the stories, with a clock of its own.
type demo struct {
	s     streams
	quiet bool
	posts bool   // print them in full
	write string // directory for the posts, "" for none
	now   time.Time
	runs  int

	packets int // comments printed; the JSON for agents is printed once
}

// jsonBlock is the JSON for agents at the end of a comment.
var jsonBlock = lazyregexp.New("(?s)```json\n.*?\n```")

func (d *demo) run(ctx context.Context, dir string) error {
	led, err := ledger.OpenPath(dir)
	if err != nil {
		return failed(err)
	}
	line := &pipeline.Pipeline{Ledger: led, Now: func() time.Time { return d.now }}
	for _, st := range stories {
		fmt.Fprintf(d.s.out, "\n══ %s\n", st.title)
		for _, sc := range st.scenes {
			d.runs++
			d.now = d.now.Add(17 * time.Minute)
			if err := d.play(ctx, line, st.key, sc); err != nil {
				return failed(err)
			}
		}
	}
	if d.quiet {
		return nil
	}
	keys, err := led.Keys(ctx)
	if err != nil {
		return failed(err)
	}
	cases := slices.DeleteFunc(keys, routing.IsRepositoryStream)
	fmt.Fprintf(d.s.out, "\nA ledger of %d cases holds every event. `switchback demo --ledger DIR` keeps it, for `switchback show`,\n`stats` and `dashboard`; `switchback demo --posts` prints the posts.\n", len(cases))
	return nil
}

func (d *demo) play(ctx context.Context, line *pipeline.Pipeline, key string, sc scene) error {
	fmt.Fprintf(d.s.out, "── %s\n", sc.title)
	out, err := analysis.Analyze(analysis.Input{
		Sources:    []analysis.Source{{Name: sc.file, Open: func() (io.ReadCloser, error) { return recordings.Open("demo/" + sc.file) }}},
		Conclusion: map[bool]string{true: "success", false: "failure"}[strings.Contains(sc.file, "pass")],
		ReadFile:   demoFile,
	})
	if err != nil {
		return err
	}
	repo := repositoryOf(key)
	v := out.Verdict
	v.Checkpoint = "unit"
	id := 1000 + d.runs
	v.Run = routing.Run{Repository: repo, ID: fmt.Sprint(id), Attempt: 1, SHA: sc.sha, URL: fmt.Sprintf("https://github.com/%s/actions/runs/%d", repo, id)}
	rec, err := line.Record(ctx, key, v, policies(config.File{}, key))
	if err != nil {
		return err
	}
	o := render.Options{Repo: repo, Redact: redact.Text}
	if rec.Decision.Kind == routing.KindRetry {
		o.Mention = "@octocat"
	}
	n := v.Counts
	fmt.Fprintf(d.s.out, "%d tests: %d passed, %d failed, %d skipped → %s\n", n.Tests-n.Parents, n.Passed, n.Failed, n.Skipped, rec.Decision.Kind)
	fmt.Fprint(d.s.out, render.Text(key+"/unit", rec.Decision, o))
	for _, e := range rec.Decision.Effects {
		if err := d.post(rec.Case, e, o); err != nil {
			return err
		}
	}
	return nil
}

// post says what an effect would post, and writes it to a file if that is asked for.
func (d *demo) post(c routing.Case, e routing.Effect, o render.Options) error {
	what, name := "", ""
	shown := show(c, e, o, true)
	switch e.Kind {
	case routing.EffectComment:
		what = "comment"
		name, _, _ = strings.Cut(strings.TrimPrefix(shown.Body, "### "), "\n")
	case routing.EffectIssue:
		what, name = "issue", shown.Title
	default:
		return nil
	}
	if !d.quiet {
		fmt.Fprintf(d.s.out, "  would post the %s %q\n", what, name)
	}
	if d.posts {
		body := shown.Body
		if d.packets > 0 {
			body = jsonBlock.ReplaceAllString(body, "```json\n… (as above)\n```")
		}
		if e.Kind == routing.EffectComment {
			d.packets++
		}
		fmt.Fprintf(d.s.out, "┌\n%s\n└\n", indent(body, "│ "))
	}
	if d.write == "" {
		return nil
	}
	if err := os.MkdirAll(d.write, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.write, fmt.Sprintf("%02d-%s.md", d.runs, e.Kind)), []byte(shown.Body+"\n"), 0o644)
}

// demoFile returns the only file of the demo, at any commit: the tests do not change.
func demoFile(name string) ([]byte, error) {
	if name != "coupon_test.go" {
		return nil, os.ErrNotExist
	}
	return recordings.ReadFile("demo/coupon_test.go.txt")
}

func indent(text, prefix string) string {
	var b bytes.Buffer
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(strings.TrimRight(prefix+l, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
