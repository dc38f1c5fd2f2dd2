package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/quarantines"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// routed is what `route -o json` prints. Other tools rely on its keys.
type routed struct {
	Decision      routing.Kind    `json:"decision"`
	Rule          string          `json:"rule"`
	Reason        string          `json:"reason"`
	Iteration     int             `json:"iteration"`
	MaxIterations int             `json:"max_iterations"`
	Verdict       routing.Result  `json:"verdict"`
	Class         routing.Class   `json:"class,omitempty"`
	Phase         routing.Phase   `json:"phase,omitempty"`
	Repeated      bool            `json:"repeated,omitempty"`
	Failures      []routedFailure `json:"failures"`
	Effects       []effectOut     `json:"effects"`

	Base    *routing.BaseComparison `json:"base,omitempty"`
	Suspect []routing.Suspicion     `json:"suspect"`          // why a green run is not trusted
	Listed  []routing.Suspicion     `json:"listed,omitempty"` // what was noticed about it besides
}

type routedFailure struct {
	Name        string             `json:"name"`
	Suite       string             `json:"suite,omitempty"`
	Class       routing.Class      `json:"class"`
	Evidence    []routing.Evidence `json:"evidence"`
	Fingerprint string             `json:"fingerprint"`
	File        string             `json:"file"`
	Line        int                `json:"line"`
	Message     string             `json:"message,omitempty"`
	Standing    history.Standing   `json:"standing,omitempty"`
	Since       string             `json:"since,omitempty"`
}

type effectOut struct {
	Kind  routing.EffectKind `json:"kind"`
	Key   string             `json:"key"`
	Title string             `json:"title,omitempty"`
	Body  string             `json:"body"`
}

type routeFlags struct {
	key, checkpoint, run, sha, head, part, config, ledger, conclusion, output, url string
	tree, base, mergeBase, parents, pusher                                         string
	attempt, parts                                                                 int
	exitCode                                                                       bool
}

func routeCommand(s streams) *cobra.Command {
	var f routeFlags
	c := &cobra.Command{
		Use:   "route --case KEY --run ID [flags] FILE…",
		Short: "Decide what to do about a run, with a ledger on disk",
		Long: `Analyze the reports and logs of a run, decide with the history in a ledger on disk, and print the
decision with its effects. Nothing but the ledger is changed.`,
		RunE: func(c *cobra.Command, args []string) error { return runRoute(c.Context(), s, f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.key, "case", "", "the key of the case, such as acme/app#12 (required)")
	fl.StringVar(&f.checkpoint, "checkpoint", "ci", "the checkpoint of the case")
	fl.StringVar(&f.run, "run", "", "the id of the run (required)")
	fl.IntVar(&f.attempt, "attempt", 1, "the attempt of the run, from 1")
	fl.StringVar(&f.sha, "sha", "", "the commit that the run was for")
	fl.StringVar(&f.tree, "tree", "", "the tree of that commit, as `git rev-parse SHA^{tree}` prints it: a commit with the tree of an earlier one changed nothing")
	fl.StringVar(&f.head, "head", "", "the newest commit, if it is known; a run of another commit is stale")
	fl.StringVar(&f.pusher, "pusher", "", "the login of who pushed the commit, who may not accept its green run")
	fl.StringVar(&f.part, "part", "", "the leg of a matrix that the run is")
	fl.IntVar(&f.parts, "parts", 1, "the number of legs of the matrix")
	fl.StringVar(&f.url, "url", "", "the URL of the run")
	fl.StringVar(&f.base, "base", "", "the key of the base's case in the same ledger, such as acme/app@main: what fails there already is nobody's to fix here")
	fl.StringVar(&f.mergeBase, "merge-base", "", "the commit at which the change left the base")
	fl.StringVar(&f.parents, "parents", "", "the `file` that gives the order of commits, a line for each with its SHA and those of its parents; without it they have the order in which their runs were recorded")
	fl.StringVar(&f.config, "config", "", "the configuration file")
	fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
	fl.StringVar(&f.conclusion, "conclusion", "", "the run's conclusion as GitHub names it")
	fl.StringVarP(&f.output, "output", "o", "json", "json or text")
	fl.BoolVar(&f.exitCode, "exit-code", false, "exit with 1 unless the decision is PASS")
	return c
}

func runRoute(ctx context.Context, s streams, f routeFlags, files []string) error {
	switch {
	case f.key == "":
		return usage("--case is missing; name the case, such as --case acme/app#12")
	case f.run == "":
		return usage("--run is missing; give the id of the run")
	case f.attempt < 1:
		return usage("--attempt is %d; attempts count from 1", f.attempt)
	case !caseRef.MatchString(f.key):
		return notACase("--case", f.key)
	case f.base != "" && !caseRef.MatchString(f.base):
		return notACase("--base", f.base)
	case f.parts < 1:
		return usage("--parts is %d; a matrix has at least one leg", f.parts)
	case f.mergeBase != "" && f.base == "":
		return usage("--merge-base is of no use without --base; name the base's case, such as --base acme/app@main")
	case len(files) == 0 && f.conclusion == "":
		return usage("name the run's reports or logs, or give its --conclusion")
	}
	if err := checkConclusion(f.conclusion); err != nil {
		return err
	}
	if err := oneOf("-o", f.output, "json", "text"); err != nil {
		return err
	}
	cfg, err := readConfig(f.config)
	if err != nil {
		return err
	}
	rules, err := analysis.Rules(cfg)
	if err != nil {
		return failed(err)
	}
	led, err := openLedger(ctx, f.ledger)
	if err != nil {
		return err
	}
	parents, err := readParents(f.parents)
	if err != nil {
		return err
	}
	out, err := analysis.Analyze(analysis.Input{
		Names: strings.Contains(f.key, "@"), Owner: func(file string) string { return strings.Join(localOwners(file), " ") }, Checkpoint: f.checkpoint, Sources: sources(s, files), Conclusion: f.conclusion, Rules: rules, Criteria: cfg.CriteriaOf(f.checkpoint),
		Language: cfg.Language, FailOn: cfg.Policy(f.checkpoint, "", nil).FailOn, Reviews: cfg.AcceptsReviews(f.checkpoint), ReadFile: readWorkingFile(),
	})
	if err != nil {
		return usage("%w", err)
	}
	v := out.Verdict
	v.Checkpoint, v.Head = f.checkpoint, f.head
	v.Run = routing.Run{Repository: repositoryOf(f.key), ID: f.run, Attempt: f.attempt, SHA: f.sha, Tree: f.tree, Part: f.part, Parts: f.parts, URL: f.url, Pusher: f.pusher}
	v.Parents = parents[f.sha]
	if v.Whole, v.Names, err = keepInventory(ctx, led, f.key, out); err != nil {
		return failed(err)
	}
	if v, err = withRegister(ctx, led, f.key, v); err != nil {
		return failed(err)
	}
	policy := policies(cfg, f.key)
	var base routing.Case
	if f.base != "" {
		if base, err = ledger.Case(led, f.base).Load(ctx); err != nil {
			return failed(err)
		}
		at := history.MergeBase{SHA: f.mergeBase}
		if v = v.Against(base, at, parents); v.Result == routing.Pass {
			v = routing.SizedBy(v, base, at, parents)
		}
	}
	line := &pipeline.Pipeline{Ledger: led, Compare: func(ctx context.Context, c routing.Case, v routing.Verdict) (routing.Verdict, error) {
		return handler.Follow(ctx, led, c, v, out.Ran, base, policy(v.Checkpoint))
	}}
	rec, err := line.Record(ctx, f.key, v, policy)
	if err != nil {
		return failed(err)
	}
	o := render.Options{Repo: repositoryOf(f.key), Language: render.Language(cfg.Language), Redact: redact.Text, RunURL: f.url, Handles: cfg.Handles()}
	if f.output == "text" {
		fmt.Fprint(s.out, render.Text(f.key, rec.Decision, o))
	} else if err := printRouted(s, rec, v, o, cfg.CommentsByCase()); err != nil {
		return err
	}
	if f.exitCode && rec.Decision.Kind != routing.KindPass {
		return &exitError{code: 1}
	}
	return nil
}

// keepInventory keeps what of a run's tests is too large for its event, and returns the names of the
// blobs.
func keepInventory(ctx context.Context, led ledger.Ledger, key string, out analysis.Output) (whole, names string, err error) {
	blobs := ledger.BlobsOf(led)
	if blobs == nil {
		return "", "", nil
	}
	if len(out.Inventory) > 0 {
		if whole, err = blobs.Put(ctx, key, out.Inventory); err != nil {
			return "", "", err
		}
	}
	if len(out.Names) > 0 {
		names, err = blobs.Put(ctx, key, out.Names)
	}
	return whole, names, err
}

// withRegister returns v with what the quarantine in the same ledger says of its failures.
func withRegister(ctx context.Context, led ledger.Ledger, key string, v routing.Verdict) (routing.Verdict, error) {
	repo := repositoryOf(key)
	if repo == "" || len(v.Tests()) == 0 {
		return v, nil
	}
	st, err := (&quarantines.Service{Ledger: led, Repo: repo}).State(ctx)
	if err == nil && len(st.Entries) > 0 {
		v.Register = st.Register(v, time.Now())
	}
	return v, err
}

// readParents reads the parents of commits: a line of a commit and its parents for each, as
// `git rev-list --parents` prints them. Without a file there are none.
func readParents(name string) (history.Parents, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, usage("--parents: %w", err)
	}
	out := history.Parents{}
	for line := range strings.Lines(string(text)) {
		if commits := strings.Fields(line); len(commits) > 0 {
			out[commits[0]] = commits[1:]
		}
	}
	return out, nil
}

var conclusions = []string{"success", "failure", "cancelled", "timed_out", "skipped", "neutral", "action_required", "startup_failure", "stale"}

// checkConclusion returns a usage error for a --conclusion that GitHub does not have.
func checkConclusion(c string) error {
	if c == "" || slices.Contains(conclusions, c) {
		return nil
	}
	if near, ok := suggest.Close(c, conclusions); ok {
		return usage("--conclusion is %q; did you mean %q?", c, near)
	}
	return usage("--conclusion is %q; known are %s", c, strings.Join(conclusions, ", "))
}

// caseRef splits the key of a case into its repository and its subject.
var caseRef = regexp.MustCompile(`^([^/\s]+/[^/#@\s]+)([#@].+)$`)

// notACase is the usage error of a flag that takes the key of a case.
func notACase(flag, key string) error {
	return usage("%s is %q; a case is named OWNER/NAME#NUMBER, as acme/app#12, or OWNER/NAME@BRANCH, as acme/app@main", flag, key)
}

func repositoryOf(key string) string {
	if m := caseRef.FindStringSubmatch(key); m != nil {
		return m[1]
	}
	return ""
}

func policies(cfg config.File, key string) pipeline.Policies {
	ref := ""
	if m := caseRef.FindStringSubmatch(key); m != nil {
		ref = m[2]
	}
	return func(cp string) routing.Policy { return cfg.Policy(cp, ref, nil) }
}

// readWorkingFile returns a function that reads files below the working directory, for excerpts.
func readWorkingFile() func(name string) ([]byte, error) {
	open := sync.OnceValues(func() (*os.Root, error) { return os.OpenRoot(".") })
	return func(name string) ([]byte, error) {
		root, err := open()
		if err != nil {
			return nil, err
		}
		return root.ReadFile(name)
	}
}

func printRouted(s streams, rec pipeline.Recorded, v routing.Verdict, o render.Options, byCase bool) error {
	d := rec.Decision
	r := routed{
		Decision: d.Kind, Rule: d.Rule, Reason: d.Reason, Iteration: d.Iteration, MaxIterations: d.Max, Verdict: v.Result,
		Class: v.Class, Phase: d.Phase, Repeated: d.Repeated, Failures: []routedFailure{}, Effects: []effectOut{}, Base: v.Base,
		Suspect: d.Suspect, Listed: d.Listed,
	}
	if r.Suspect == nil {
		r.Suspect = []routing.Suspicion{}
	}
	for _, f := range v.Failures {
		ev := f.Evidence
		if ev == nil {
			ev = []routing.Evidence{}
		}
		if now := standing(d, f); f.Standing == history.StandingNew || f.Standing == "" || now == history.StandingQuarantined {
			f.Standing = now
		}
		r.Failures = append(r.Failures, routedFailure{f.Name, f.Suite, f.Class, ev, f.Fingerprint, f.File, f.Line, f.Message, f.Standing, f.Since})
	}
	for _, e := range d.Effects {
		r.Effects = append(r.Effects, show(rec.Case, e, o, byCase))
	}
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return failed(err)
	}
	return nil
}

// standing returns that of a failure after the decision, which knows what passed on the commit.
func standing(d routing.Decision, f routing.Failure) history.Standing {
	for _, x := range d.Verdict.Failures {
		if x.Suite == f.Suite && x.Name == f.Name {
			return x.Standing
		}
	}
	return f.Standing
}

// show renders what an effect would post; with byCase the comment is that of the whole case.
func show(c routing.Case, e routing.Effect, o render.Options, byCase bool) effectOut {
	out := effectOut{Kind: e.Kind, Key: e.Key}
	switch e.Kind {
	case routing.EffectComment:
		out.Body = string(stickyComment(c, e.Checkpoint, o, byCase))
	case routing.EffectCheck:
		k := render.Check(c, e.Checkpoint, e.SHA, o)
		out.Title, out.Body = k.Title, string(k.Summary)
	case routing.EffectIssue:
		out.Title = render.IssueTitle(c, e.Checkpoint, o)
		o.Shared.Questions = questions(c, e, out.Title, o)
		out.Body = string(render.IssueBody(c, e.Checkpoint, o))
	case routing.EffectHandoff, routing.EffectReview, routing.EffectReady:
		o.Limit = 56 << 10
		out.Body = string(render.Packet(c, e.Checkpoint, o))
	case routing.EffectClose:
		out.Body = string(render.Fixed(c, e.Checkpoint, o))
	case routing.EffectLabel:
		out.Body = "-switchback:paused"
		if c.Checkpoints[e.Checkpoint].State == routing.Escalated {
			out.Body = "+switchback:paused"
		}
	}
	return out
}

// stickyComment renders the comment of a checkpoint, or that of its case, in which o is of the
// checkpoint's section.
func stickyComment(c routing.Case, checkpoint string, o render.Options, byCase bool) markdown.Text {
	if !byCase {
		return render.Comment(c, checkpoint, o)
	}
	return render.CaseComment(c, o, func(name string) render.Options {
		if name == checkpoint {
			return o
		}
		other := o
		other.Mention, other.RunURL = "", ""
		return other
	})
}

// questions are the boxes of an escalation issue of this case alone: the other escalations of the
// repository are not known here.
func questions(c routing.Case, e routing.Effect, title string, o render.Options) markdown.Text {
	call := escalation.RequestOf(c, e.Checkpoint, render.IssueKey(c.Key, e.Checkpoint, routing.Kind(e.Target)), title, routing.DefaultPolicy())
	placed, err := escalation.State{}.Recorder(c.Updated).Place(call, escalation.Limits{}, nil)
	if err != nil {
		return ""
	}
	reg, err := escalation.Fold(placed.Events)
	if err != nil {
		return ""
	}
	rec, _ := reg.ByID(placed.ID)
	return render.QuestionSection(rec, c, "", o)
}
