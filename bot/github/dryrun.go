package github

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
)

// The effects, by what they touch. Hub does them; DryRun only says what would
// be done.
type (
	// Comments posts on issues and pull requests.
	Comments interface {
		UpsertComment(ctx context.Context, r Repo, issue int, marker, body, ref string) (id string, changed bool, err error)
		PostOnce(ctx context.Context, r Repo, issue int, marker, body string, fresh bool) (id string, posted bool, err error)
		React(ctx context.Context, r Repo, comment int64) error
	}
	// Marks are what a list of pull requests shows of one.
	Marks interface {
		UpsertCheck(ctx context.Context, r Repo, sha string, c Check, fresh bool) (ref string, err error)
		SyncLabels(ctx context.Context, r Repo, issue int, current []string, add, remove []LabelSpec) (changed bool, err error)
	}
	// Issues files and closes issues.
	Issues interface {
		UpsertIssue(ctx context.Context, r Repo, marker string, spec IssueSpec, ref string) (issue Issue, created bool, err error)
		CloseIssue(ctx context.Context, r Repo, number int, comment, marker string) (closed bool, err error)
		CloseIssueAs(ctx context.Context, r Repo, number int, reason, comment, marker string) (closed bool, err error)
		ReopenIssue(ctx context.Context, r Repo, number int, comment, marker string) (reopened bool, err error)
	}
	// Starts begins other work.
	Starts interface {
		DispatchWorkflow(ctx context.Context, r Repo, workflow, ref string, inputs map[string]string) error
		RepositoryDispatch(ctx context.Context, r Repo, event string, payload any) error
		RerunFailed(ctx context.Context, r Repo, runID int64) error
	}
	// Effects is all that a Hub writes.
	Effects interface {
		Comments
		Marks
		Issues
		Starts
	}
)

var (
	_ Effects = (*Hub)(nil)
	_ Effects = (*DryRun)(nil)
)

// Planned is one effect that a DryRun did not carry out. What does not apply
// is zero.
type Planned struct {
	Op      string // the method
	Repo    Repo
	Number  int    // of the issue or pull request
	Target  string // a commit, workflow, event or run
	Key     string // of the marker or check
	Title   string
	Body    string
	Added   []string // labels
	Removed []string
}

// DryRun records effects and sends nothing. The zero value is ready.
type DryRun struct {
	mu   sync.Mutex
	plan []Planned
}

// Planned returns the effects in the order they were wanted.
func (d *DryRun) Planned() []Planned {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Planned(nil), d.plan...)
}

func (d *DryRun) add(p Planned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plan = append(d.plan, p)
}

func (d *DryRun) post(op string, r Repo, issue int, marker, title, body string) error {
	m, body, err := seal(op, marker, body)
	if err == nil {
		d.add(Planned{Op: op, Repo: r, Number: issue, Key: m.key, Title: title, Body: body})
	}
	return err
}

// UpsertComment implements Comments. It returns ref.
func (d *DryRun) UpsertComment(_ context.Context, r Repo, issue int, marker, body, ref string) (string, bool, error) {
	return ref, true, d.post("UpsertComment", r, issue, marker, "", body)
}

// PostOnce implements Comments. It returns no id.
func (d *DryRun) PostOnce(_ context.Context, r Repo, issue int, marker, body string, _ bool) (string, bool, error) {
	return "", true, d.post("PostOnce", r, issue, marker, "", body)
}

// React implements Comments.
func (d *DryRun) React(_ context.Context, r Repo, comment int64) error {
	d.add(Planned{Op: "React", Repo: r, Target: strconv.FormatInt(comment, 10)})
	return nil
}

// UpsertCheck implements Marks. It returns no id.
func (d *DryRun) UpsertCheck(_ context.Context, r Repo, sha string, c Check, _ bool) (string, error) {
	d.add(Planned{Op: "UpsertCheck", Repo: r, Target: sha, Key: c.ExternalID, Title: c.Title, Body: c.Summary})
	return "", nil
}

// SyncLabels implements Marks.
func (d *DryRun) SyncLabels(_ context.Context, r Repo, issue int, _ []string, add, remove []LabelSpec) (bool, error) {
	d.add(Planned{Op: "SyncLabels", Repo: r, Number: issue, Added: names(add), Removed: names(remove)})
	return true, nil
}

// UpsertIssue implements Issues. The issue has ref's number, or 0.
func (d *DryRun) UpsertIssue(_ context.Context, r Repo, marker string, spec IssueSpec, ref string) (Issue, bool, error) {
	n, _ := strconv.Atoi(ref) // "" is 0
	return Issue{Number: n, Title: spec.Title, Body: spec.Body, State: "open"}, n == 0, d.post("UpsertIssue", r, n, marker, spec.Title, spec.Body)
}

// CloseIssue implements Issues.
func (d *DryRun) CloseIssue(_ context.Context, r Repo, number int, comment, _ string) (bool, error) {
	d.add(Planned{Op: "CloseIssue", Repo: r, Number: number, Body: comment})
	return true, nil
}

// CloseIssueAs implements Issues.
func (d *DryRun) CloseIssueAs(_ context.Context, r Repo, number int, reason, comment, _ string) (bool, error) {
	d.add(Planned{Op: "CloseIssue", Repo: r, Number: number, Target: reason, Body: comment})
	return true, nil
}

// ReopenIssue implements Issues.
func (d *DryRun) ReopenIssue(_ context.Context, r Repo, number int, comment, _ string) (bool, error) {
	d.add(Planned{Op: "ReopenIssue", Repo: r, Number: number, Body: comment})
	return true, nil
}

// DispatchWorkflow implements Starts.
func (d *DryRun) DispatchWorkflow(_ context.Context, r Repo, workflow, ref string, inputs map[string]string) error {
	data, err := json.Marshal(inputs)
	d.add(Planned{Op: "DispatchWorkflow", Repo: r, Target: workflow, Title: ref, Body: string(data)})
	return err
}

// RepositoryDispatch implements Starts.
func (d *DryRun) RepositoryDispatch(_ context.Context, r Repo, event string, payload any) error {
	data, err := json.Marshal(payload)
	d.add(Planned{Op: "RepositoryDispatch", Repo: r, Target: event, Body: string(data)})
	return err
}

// RerunFailed implements Starts.
func (d *DryRun) RerunFailed(_ context.Context, r Repo, runID int64) error {
	d.add(Planned{Op: "RerunFailed", Repo: r, Target: strconv.FormatInt(runID, 10)})
	return nil
}
