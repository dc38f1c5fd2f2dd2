package escalation

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Facts are what a record says of its failure, as of the newest evidence.
type Facts struct {
	Kind        routing.Kind `json:"kind"`
	Type        Type         `json:"type"`
	Severity    Severity     `json:"severity"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Context     string       `json:"context"`
	Suggested   []string     `json:"suggested_actions"`
}

func (f Facts) into(r *Record) {
	r.Kind, r.Type, r.Severity = f.Kind, f.Type, f.Severity
	r.Title, r.Description, r.Context, r.Suggested = f.Title, f.Description, f.Context, f.Suggested
}

// Request asks for an escalation of a case.
type Request struct {
	ID     string // of the record, if this opens one
	Member Member
	Facts  Facts
	Lease  *routing.Lease // of the process that files the issue if this opens one
}

// RequestOf returns the request of a checkpoint that is escalated. id names the
// record if the request opens one, title is that of its issue.
func RequestOf(c routing.Case, checkpoint, id, title string, p routing.Policy) Request {
	cp := c.Checkpoints[checkpoint]
	rep := Build(c, checkpoint, p)
	m := Member{Case: c.Key, Checkpoint: checkpoint, Kind: rep.Kind, Type: rep.Type, Group: Group(cp), Gen: c.Generation, Opened: rep.OpenedAt, At: cp.Updated}
	if story := untilEscalation(cp.Story()); len(story) > 0 {
		v := story[len(story)-1].Verdict
		m.SHA, m.Run, m.RunURL, m.First = v.Run.SHA, v.Run.Key(), v.Run.URL, First(v)
	}
	if last := cp.Last; last.SHA != "" && last.Key() != m.Run { // came while it waited
		m.SHA, m.Run, m.RunURL = last.SHA, last.Key(), last.URL
	}
	f := Facts{Kind: rep.Kind, Type: rep.Type, Severity: rep.Severity, Title: title, Description: rep.Reason, Context: rep.Pattern.String()}
	for _, s := range slices.Concat(rep.Actions.Design, rep.Actions.Environment, rep.Actions.Manual) {
		f.Suggested = append(f.Suggested, s.String())
	}
	return Request{ID: id, Member: m, Facts: f}
}

// Limits bound what is filed.
type Limits struct {
	MaxIssues int           // new issues within an hour; 0: DefaultMaxIssues
	Quiet     time.Duration // after a green run closed an issue
	FuseID    string        // of the summary record
}

// The defaults of Limits.
const (
	DefaultMaxIssues = 10
	DefaultQuiet     = 10 * time.Minute
	window           = time.Hour // in which new issues are counted
)

// Placed is where a call went.
type Placed struct {
	ID     string
	Events []routing.Event // to append; none if the record says all of it already
	News   bool            // the call brings a run that the record did not have
	Silent bool            // a human closed it: nothing is shown
	Blown  bool            // it went to the summary, as too many issues were filed
	Wait   time.Time       // nothing is filed before
	Ask    *Ancestry       // to be answered before it can be placed
	Left   []Record        // what it moved out of, whose issues are to be closed; see LeftBehind
}

// Ancestry asks whether commit Head contains commit Fix.
type Ancestry struct{ Fix, Head string }

// Place says where a call belongs. contains are the answers known so far to
// what Place asked. The rules in their order:
//
//   - a checkpoint that is held stays where it is held, and a case has one open
//     record of a type;
//   - cases with one group share one record;
//   - what a human closed is silent for its commit;
//   - within the quiet period after a green run closed it nothing is opened;
//   - a resolved record of the same case and failure is opened again if the
//     commit contains what resolved it;
//   - else a new one is opened, or, once too many were, it joins the summary.
func (r Recorder) Place(c Request, l Limits, contains map[Ancestry]bool) (Placed, error) {
	p := placing{recorder: r, request: c, limits: l, contains: contains}
	if rec, ok := p.held(); ok {
		return p.keep(rec)
	}
	if rec, ok := p.shared(); ok {
		return p.put(rec.ID, rec.Fuse, p.join(rec))
	}
	for _, rec := range p.recorder.state.AllOpen() {
		if rec.closedFor(p.request.Member) {
			out, err := p.put(rec.ID, false, p.join(rec))
			out.Silent = true
			return out, err
		}
	}
	if prev, ok := p.earlier(); ok {
		out, done, err := p.again(prev)
		if done || err != nil {
			return out, err
		}
	}
	return p.fresh()
}

type placing struct {
	recorder Recorder
	request  Request
	limits   Limits
	contains map[Ancestry]bool
	first    []routing.Event // come before what the call itself does
}

// held returns the open record that the checkpoint is a member of.
func (p placing) held() (Record, bool) {
	recs := p.recorder.state.Open(p.request.Member.Case, p.request.Member.Checkpoint)
	if len(recs) == 0 {
		return Record{}, false
	}
	return recs[len(recs)-1], true
}

// shared returns the open record that the call joins: of the case's own type
// first, then of its group.
func (p placing) shared() (Record, bool) {
	m := p.request.Member
	for _, rec := range p.recorder.state.Open(m.Case, "") {
		if rec.Type == m.Type && !rec.Fuse && rec.DismissedAt.IsZero() {
			return rec, true
		}
	}
	for _, rec := range p.recorder.state.ByGroup(m.Group) {
		if rec.Type == m.Type && !rec.Fuse && rec.DismissedAt.IsZero() {
			return rec, true
		}
	}
	return Record{}, false
}

// keep brings a member up to date where it is. One of several that became of
// another type goes to a record of its own, or to the one of that type that its
// case has, and so does one whose later commit does not contain what a human
// closed the record for.
func (p placing) keep(rec Record) (Placed, error) {
	m := p.request.Member
	old := rec.Members[rec.member(m.Key())]
	if rec.Fuse {
		return p.put(rec.ID, true, p.join(rec))
	}
	if !rec.DismissedAt.IsZero() {
		return p.dismissed(rec)
	}
	if old.Type != m.Type && (len(rec.Members) > 1 || p.another(rec)) {
		return p.move(rec)
	}
	return p.put(rec.ID, false, p.join(rec))
}

// another reports whether the case has an open record of the call's type
// besides rec.
func (p placing) another(rec Record) bool {
	m := p.request.Member
	return slices.ContainsFunc(p.recorder.state.Open(m.Case, ""), func(o Record) bool {
		return o.ID != rec.ID && o.Type == m.Type && !o.Fuse && o.DismissedAt.IsZero()
	})
}

func (p placing) dismissed(rec Record) (Placed, error) {
	m := p.request.Member
	if !m.Opened.After(rec.DismissedAt) || rec.closedFor(m) {
		out, err := p.put(rec.ID, false, p.join(rec))
		out.Silent = true
		return out, err
	}
	in, known := p.within(rec.Dismissed)
	switch {
	case !known:
		return p.ask(rec.Dismissed), nil
	case in:
		return p.put(rec.ID, false, p.recorder.event(EventRecalled, RecordRecalled{ID: rec.ID}), p.join(rec))
	}
	return p.move(rec)
}

// move takes the member out of rec and places it as if it had been nowhere.
func (p placing) move(rec Record) (Placed, error) {
	m := p.request.Member
	leave, err := p.recorder.Leave(rec.ID, m.Case, m.Checkpoint, Moved, "", "")
	if err != nil {
		return Placed{}, err
	}
	for _, e := range leave {
		if p.recorder.state, err = p.recorder.state.Apply(e); err != nil {
			return Placed{}, err
		}
	}
	p.first = append(p.first, leave...)
	if to, ok := p.shared(); ok {
		return p.put(to.ID, false, p.join(to))
	}
	return p.fresh()
}

// earlier returns the newest resolved record of the same case and checkpoint,
// or of the same group.
func (p placing) earlier() (Record, bool) {
	m := p.request.Member
	var best Record
	for _, rec := range p.recorder.state.Records {
		if rec.Open() || rec.Fuse || rec.Type != m.Type {
			continue
		}
		mine := slices.ContainsFunc(rec.Left, func(l Member) bool {
			return l.How != Moved && (l.Key() == m.Key() || l.Group != "" && l.Group == m.Group)
		})
		if mine && !rec.ResolvedAt.Before(best.ResolvedAt) {
			best = rec
		}
	}
	return best, best.ID != ""
}

// closedFor reports whether a human closed the issue of r when it was about the
// failure of m: at the commit it was closed for, or at that of another case
// that it held then.
func (r Record) closedFor(m Member) bool {
	if r.DismissedAt.IsZero() || m.SHA == "" {
		return false
	}
	mine := func(l Member) bool {
		return l.Key() == m.Key() && l.SHA == m.SHA && l.How != Moved && !l.LeftAt.Before(r.DismissedAt)
	}
	like := func(l Member) bool { return l.Key() == m.Key() || l.Group != "" && l.Group == m.Group }
	return r.Dismissed == m.SHA && (slices.ContainsFunc(r.Members, like) || slices.ContainsFunc(r.Left, like)) || slices.ContainsFunc(r.Left, mine)
}

// again decides about a call that was resolved before; done is false where it
// opens a record of its own.
func (p placing) again(prev Record) (out Placed, done bool, err error) {
	m := p.request.Member
	reopen := p.recorder.event(EventReopened, RecordReopened{ID: prev.ID, Member: m, Facts: &p.request.Facts})
	if prev.closedFor(m) {
		out, err = p.put(prev.ID, false, reopen)
		out.Silent = true
		return out, true, err
	}
	left := prev.Left[len(prev.Left)-1]
	if until := prev.ResolvedAt.Add(p.limits.Quiet); left.How == Passed && p.recorder.now.Before(until) {
		return Placed{Wait: until}, true, nil
	}
	if !p.sameFailure(prev) {
		return out, false, nil
	}
	in, known := p.within(prev.Fix)
	if !known {
		return p.ask(prev.Fix), true, nil
	}
	if !in {
		return out, false, nil
	}
	events := []routing.Event{reopen}
	if !prev.DismissedAt.IsZero() {
		events = append(events, p.recorder.event(EventRecalled, RecordRecalled{ID: prev.ID}))
	}
	out, err = p.put(prev.ID, false, events...)
	return out, true, err
}

// sameFailure is true where prev was about the same failure, or where either
// has none that could be compared.
func (p placing) sameFailure(prev Record) bool {
	m := p.request.Member
	return slices.ContainsFunc(prev.Left, func(l Member) bool {
		return l.How != Moved && l.Group == m.Group && (m.Group != "" || l.Key() == m.Key())
	})
}

// within reports whether the failing commit contains fix, if that is known.
func (p placing) within(fix string) (in, known bool) {
	head := p.request.Member.SHA
	if fix == "" || head == "" || fix == head {
		return fix == head && fix != "", true
	}
	in, known = p.contains[Ancestry{fix, head}]
	return in, known
}

func (p placing) ask(fix string) Placed {
	return Placed{Ask: &Ancestry{Fix: fix, Head: p.request.Member.SHA}}
}

// fresh opens a record, or adds to the summary where too many were opened.
func (p placing) fresh() (Placed, error) {
	limit := p.limits.MaxIssues
	if limit <= 0 {
		limit = DefaultMaxIssues
	}
	if p.limits.FuseID != "" && p.recorder.state.opened(p.recorder.now) >= limit {
		return p.blow()
	}
	rec := Record{ID: p.recorder.state.free(p.request.ID), Session: p.request.Member.Case, Port: p.request.Member.Checkpoint, Members: []Member{p.request.Member}, Lease: p.request.Lease}
	p.request.Facts.into(&rec)
	return p.put(rec.ID, false, p.recorder.event(EventOpened, RecordOpened{rec}))
}

// blow adds the call to the summary: the open one, one that was resolved
// within the hour, or a new one.
func (p placing) blow() (Placed, error) {
	m := p.request.Member
	for i := len(p.recorder.state.Records) - 1; i >= 0; i-- {
		rec := p.recorder.state.Records[i]
		switch {
		case !rec.Fuse:
			continue
		case rec.Open():
			return p.put(rec.ID, true, p.join(rec))
		case p.recorder.now.Sub(rec.ResolvedAt) < window:
			return p.put(rec.ID, true, p.recorder.event(EventReopened, RecordReopened{ID: rec.ID, Member: m}))
		}
		break
	}
	rec := Record{ID: p.recorder.state.free(p.limits.FuseID), Session: m.Case, Port: m.Checkpoint, Fuse: true, Members: []Member{m}, Lease: p.request.Lease}
	Facts{Kind: m.Kind, Type: General, Severity: Critical, Title: "Too many escalations",
		Description: fmt.Sprintf("%d new issues within an hour are the most; the rest is listed in one", max(p.limits.MaxIssues, 0))}.into(&rec)
	return p.put(rec.ID, true, p.recorder.event(EventOpened, RecordOpened{rec}))
}

// opened counts the records opened within the window.
func (r State) opened(now time.Time) int {
	n := 0
	for _, rec := range r.Records {
		if !rec.Fuse && now.Sub(rec.OpenedAt) < window {
			n++
		}
	}
	return n
}

// free returns id, or with a number behind it where that is taken.
func (r State) free(id string) string {
	if r.index(id) < 0 {
		return id
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s/%d", id, n); r.index(next) < 0 {
			return next
		}
	}
}

// join brings the call's member up to date in rec. The facts are the host's.
func (p placing) join(rec Record) routing.Event {
	joined := MemberJoined{ID: rec.ID, Member: p.request.Member}
	if !rec.Fuse && (len(rec.Members) == 0 || rec.Members[0].Key() == p.request.Member.Key()) {
		joined.Facts = &p.request.Facts
	}
	return p.recorder.event(EventJoined, joined)
}

// put returns the events that place the call in a record, none where it says
// the same already.
func (p placing) put(id string, blown bool, events ...routing.Event) (Placed, error) {
	out := Placed{ID: id, Blown: blown}
	rec, _ := p.recorder.state.ByID(id)
	i := rec.member(p.request.Member.Key())
	out.News = i < 0 || rec.Members[i].Run != p.request.Member.Run
	if i >= 0 && len(p.first) == 0 && len(events) == 1 && same(rec.Members[i], p.request.Member) {
		return out, nil
	}
	var err error
	if events, err = p.recorder.checked(events...); err != nil {
		return out, err
	}
	out.Events = append(slices.Clip(p.first), events...)
	return out, nil
}

// same compares what two writings of one member say.
func same(a, b Member) bool {
	return a.Gen == b.Gen && a.Run == b.Run && a.Type == b.Type && a.Group == b.Group && a.Opened.Equal(b.Opened)
}
