package render

import (
	"strconv"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// view is one checkpoint of a case as of one of its turns, redacted, with what
// all renderings share.
type view struct {
	c     routing.Case
	cp    routing.Checkpoint
	name  string            // of the checkpoint
	story []routing.Attempt // of the streak, up to and with turn
	turn  routing.Attempt   // zero if there is none
	has   bool              // there is a turn
	max   int
	delta delta
	base  int // 1-based run of the story that delta is since, 0 for none
	o     Options
	lang  Language

	ran     map[string]bool   // tests that failed in an earlier turn, and ran and passed in this one, by testKey
	excused []string          // names of the turn's failures that are in quarantine
	resting []routing.Failure // those failures
	old     []routing.Failure // failures of the turn that stand on the base too
	stale   bool              // of a merge group: the pull request has another commit by now

	plain *view // with handles as they were, for JSON; nil if no handles are broken
}

// look returns the view of checkpoint as of its newest turn.
func look(c routing.Case, checkpoint string, o Options) view {
	cp := c.Checkpoints[checkpoint]
	return lookAt(c, checkpoint, len(cp.Story())-1, o)
}

// lookAt returns the view as of turn i of the streak; none if i is outside.
func lookAt(c routing.Case, checkpoint string, i int, o Options) view {
	cp := c.Checkpoints[checkpoint]
	v := view{c: c, cp: cp, name: o.Redacted(checkpoint), o: o, lang: o.Language}
	story := cp.Story()
	if i < 0 || i >= len(story) {
		return v
	}
	v.max = escalation.MaxOf(cp, story[i], routing.DefaultPolicy())
	for j, t := range story[:i+1] {
		if j < i {
			t.Verdict = slim(t.Verdict)
		}
		t.Reason, t.Flaky = o.Redacted(t.Reason), o.RedactedAll(t.Flaky)
		t.Verdict = o.verdict(t.Verdict)
		v.resting = resting(t.Verdict.Failures)
		t.Verdict.Failures, v.excused = counting(t.Verdict.Failures)
		t.Verdict.Failures, v.old = t.Verdict.Standings()
		v.story = append(v.story, t)
	}
	v.turn, v.has = v.story[i], true
	v.ran = ranSince(cp, story[:i], story[i].Verdict.Run, o)
	if v.base = comparable(v.story[:i]); v.base > 0 {
		v.delta = compare(v.story[v.base-1].Verdict, v.turn.Verdict, v.turn.Flaky, v.ran)
	}
	if len(o.Handles) > 0 {
		o.Handles = nil
		plain := lookAt(c, checkpoint, i, o)
		v.plain = &plain
	}
	return v
}

// ranSince returns the tests that failed in earlier turns, and ran and passed in a run.
func ranSince(cp routing.Checkpoint, story []routing.Attempt, r routing.Run, o Options) map[string]bool {
	passed := routing.FixedIn(cp, r)
	out := map[string]bool{}
	if len(passed) == 0 {
		return out
	}
	add := func(f routing.Failure) {
		if passed[history.TestID(cp.Name, f.Suite, f.Name)] {
			f.Suite, f.Name = o.Redacted(f.Suite), o.Redacted(f.Name)
			out[testKey(f, 0)] = true
		}
	}
	for _, t := range story {
		for _, f := range t.Verdict.Failures {
			add(f)
		}
		for _, c := range t.Verdict.Cut {
			add(routing.Failure{Suite: c.Suite, Name: c.Name})
		}
	}
	return out
}

// comparable returns the 1-based place of the newest turn that failed by the
// work itself: with a broken environment nothing can be compared.
func comparable(story []routing.Attempt) int {
	for i := len(story); i > 0; i-- {
		v := story[i-1].Verdict
		if len(v.Failures) > 0 && v.Class != routing.EnvIssue && v.Result != routing.Pass {
			return i
		}
	}
	return 0
}

// slim drops from the verdict of an earlier turn the long texts that only the
// newest shows.
func slim(v routing.Verdict) routing.Verdict {
	fs := make([]routing.Failure, len(v.Failures))
	for i, f := range v.Failures {
		f.Trace, f.Expected, f.Actual, f.Excerpt = "", "", "", nil
		fs[i] = f
	}
	v.Failures = fs
	return v
}

// verdict returns v with secrets removed from all that a run had a hand in.
func (o Options) verdict(v routing.Verdict) routing.Verdict {
	v = redact.VerdictWith(v, o.Redacted)
	for i := range v.Failures {
		if f := &v.Failures[i]; !f.Class.Valid() {
			f.Class = routing.Unknown
		}
	}
	return v
}

// RedactedAll is Redacted of each of ss.
func (o Options) RedactedAll(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = o.Redacted(s)
	}
	return out
}

func (v view) repo() string {
	if v.o.Repo != "" {
		return v.o.Repo
	}
	return v.turn.Verdict.Run.Repository
}

// sha returns a commit as a short link, or in words where it is not known.
func (v view) sha(sha string) md {
	if sha == "" {
		return v.lang.Say("unknown")
	}
	s := markdown.Code(short(sha))
	if !repoName.MatchString(v.repo()) || !commitHash.MatchString(sha) {
		return s
	}
	return markdown.Link(s, v.o.Server()+"/"+v.repo()+"/commit/"+sha)
}

func short(sha string) string {
	if commitHash.MatchString(sha) {
		return truncate.ShortSHA(sha)
	}
	return sha
}

// place returns file:line of a failure, linked at the run's commit.
func (v view) place(f routing.Failure) md {
	w := escalation.Where(f)
	if w == "" {
		return ""
	}
	return markdown.Link(markdown.Code(w), v.o.blob(v.repo(), v.turn.Verdict.Run.SHA, f.File, f.Line))
}

func (v view) runURL() string {
	if u := v.o.Address(v.o.RunURL); u != "" {
		return u
	}
	return v.o.Address(v.turn.Verdict.Run.URL)
}

// runLink links the run and its log, "" if its page is not known.
func (v view) runLink() md {
	if u := v.runURL(); u != "" {
		return markdown.Link(v.lang.Say("run.link"), u)
	}
	return ""
}

func (v view) onMax() routing.OnMax { return v.decision().OnMax }

// decision returns what was decided when the turn was taken: of the run it
// shows, or where a newer run has taken that one's place, of the run that the
// same turn was decided on.
func (v view) decision() routing.Decision {
	rs := v.cp.Runs[v.turn.Verdict.Run.Key()]
	if rs.Decided && rs.Decision.Kind == v.turn.Kind {
		return rs.Decision
	}
	for _, rs := range v.cp.Runs {
		if d := rs.Decision; rs.Decided && d.Kind == v.turn.Kind && d.Iteration == v.turn.Iteration && d.Reason == v.turn.Reason {
			return d
		}
	}
	return routing.Decision{}
}

// class returns a class in words.
func (v view) class(c routing.Class) md { return v.lang.Say("class." + valid(c)) }

// valid is the id of a class, that of UNKNOWN for one that there is not.
func valid(c routing.Class) string {
	if !c.Valid() {
		c = routing.Unknown
	}
	return string(c)
}

// names lists up to n names as code.
func (v view) names(names []string, n int) md {
	var out []md
	for i, s := range names {
		if i == n {
			out = append(out, v.lang.Say("list.more", "n", len(names)-n))
			break
		}
		out = append(out, markdown.Code(markdown.Cut(s, 160)))
	}
	return markdown.Join(out, ", ")
}

// command returns a command that a person gives about this checkpoint, as code.
func (v view) command(verb string) md {
	return markdown.Code(escalation.DefaultCommand + " " + verb + " " + v.name)
}

// group is a failure, and those that have its cause: they fail at the same line or in the same way.
type group struct {
	routing.Failure
	others []routing.Failure
}

func (g group) all() []routing.Failure { return append([]routing.Failure{g.Failure}, g.others...) }

// causesOf puts failures of one cause together, the decisive one first and those of one file next to
// each other.
func causesOf(fs []routing.Failure) []group {
	seen := map[string]int{}
	var gs []group
	for _, f := range fs {
		at := -1
		keys := causeKeys(f)
		for _, k := range keys {
			if i, ok := seen[k]; ok && at < 0 {
				at = i
			}
		}
		switch {
		case at < 0:
			at = len(gs)
			gs = append(gs, group{Failure: f})
		case f.Decisive && !gs[at].Decisive:
			gs[at].others = append(gs[at].others, gs[at].Failure)
			gs[at].Failure = f
		default:
			gs[at].others = append(gs[at].others, f)
		}
		for _, k := range keys {
			if _, ok := seen[k]; !ok {
				seen[k] = at
			}
		}
	}
	return byFile(gs)
}

// causeKeys are what a failure shares with those of the same cause: its fingerprint, and of a test the
// line that failed. A compiler can say two things of one line. What is flaky or of another class has a
// cause of its own.
func causeKeys(f routing.Failure) []string {
	kind := string(f.Class) + "\x00" + string(f.Standing) + "\x00"
	var keys []string
	if f.Fingerprint != "" {
		keys = append(keys, kind+f.Fingerprint)
	}
	if f.Line > 0 && f.File != "" && isTest(f) {
		keys = append(keys, kind+f.File+":"+strconv.Itoa(f.Line))
	}
	return keys
}

func byFile(gs []group) []group {
	var order []string
	files := map[string][]group{}
	add := func(g group) {
		if _, ok := files[g.File]; !ok {
			order = append(order, g.File)
		}
		files[g.File] = append(files[g.File], g)
	}
	for _, decisive := range []bool{true, false} {
		for _, g := range gs {
			if g.Decisive == decisive {
				add(g)
			}
		}
	}
	out := make([]group, 0, len(gs))
	for _, f := range order {
		out = append(out, files[f]...)
	}
	return out
}
