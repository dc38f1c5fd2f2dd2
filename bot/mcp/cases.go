package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/suggest"
)

type listCasesIn struct {
	Repository string `json:"repository,omitempty" jsonschema:"only cases of this repository, owner/name"`
	State      string `json:"state,omitempty" jsonschema:"only cases in this state: escalated, paused, in_progress, pending or completed"`
	page
}

type caseRow struct {
	Case       string        `json:"case"`
	State      string        `json:"state"`
	Since      time.Time     `json:"since"`
	Checkpoint string        `json:"checkpoint" jsonschema:"the one that determines the state"`
	Decision   routing.Kind  `json:"decision"`
	Class      routing.Class `json:"class"`
	Reason     string        `json:"reason"`
	Iteration  int           `json:"iteration"`
	Max        int           `json:"max"`
	Updated    time.Time     `json:"updated"`
}

type listCasesOut struct {
	answer
	Cases []caseRow `json:"cases"`
	More  bool      `json:"more" jsonschema:"there are further ones; skip these to see them"`
}

func (o *listCasesOut) rows() int  { return len(o.Cases) }
func (o *listCasesOut) keep(n int) { o.Cases = o.Cases[:n] }

func (r reader) listCases(ctx context.Context, in listCasesIn) (out listCasesOut, err error) {
	skip, n, err := in.of()
	if err != nil {
		return out, err
	}
	repos, err := r.repositories(in.Repository)
	if err != nil {
		return out, err
	}
	var states []eventstream.State
	if s := eventstream.State(in.State); s != "" {
		if !slices.Contains(eventstream.States, s) {
			known := make([]string, len(eventstream.States))
			for i, s := range eventstream.States {
				known[i] = string(s)
			}
			return out, fmt.Errorf("there is no state %q; %s", in.State, suggest.Hint(in.State, known))
		}
		states = []eventstream.State{s}
	}
	list, err := r.Store.Cases.List(ctx, repos, states, eventstream.NewestFirst, skip, n+1)
	if err != nil {
		return out, err
	}
	out.More = len(list) > n
	out.Cases = []caseRow{}
	for _, c := range list[:min(len(list), n)] {
		out.Cases = append(out.Cases, caseRow{clean(r.now(c.Key), 300), string(c.State), c.Since.UTC(), clean(c.Checkpoint, 200), c.Decision, c.Class,
			clean(c.Reason, 300), c.Iterations, c.Max, c.Updated.UTC()})
	}
	return out, nil
}

type caseIn struct {
	Case       string `json:"case" jsonschema:"the case: owner/name#12 for a pull request, owner/name@branch for a branch"`
	Checkpoint string `json:"checkpoint,omitempty" jsonschema:"only this checkpoint"`
}

type checkpointRow struct {
	Name      string         `json:"name"`
	State     string         `json:"state"`
	Since     time.Time      `json:"since"`
	Iteration int            `json:"iteration" jsonschema:"fix attempts used"`
	Max       int            `json:"max" jsonschema:"fix attempts allowed; 0 where no run set a limit yet"`
	Next      routing.Action `json:"next" jsonschema:"what the checkpoint needs next"`
	Decision  routing.Kind   `json:"decision,omitempty" jsonschema:"the newest one"`
	Class     routing.Class  `json:"class,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Counts    routing.Counts `json:"counts" jsonschema:"tests of the newest run that was decided"`
	SHA       string         `json:"sha,omitempty"`
	Run       string         `json:"run,omitempty" jsonschema:"address of that run"`
	Green     string         `json:"green,omitempty" jsonschema:"the commit that passed last"`
}

type getCaseOut struct {
	answer
	Case        string          `json:"case"`
	Complete    bool            `json:"complete" jsonschema:"every checkpoint passed or was skipped"`
	Opened      time.Time       `json:"opened"`
	Updated     time.Time       `json:"updated"`
	Checkpoints []checkpointRow `json:"checkpoints"`
}

func (o *getCaseOut) rows() int  { return len(o.Checkpoints) }
func (o *getCaseOut) keep(n int) { o.Checkpoints = o.Checkpoints[:n] }

func (r reader) getCase(ctx context.Context, in caseIn) (out getCaseOut, err error) {
	c, _, err := r.load(ctx, in.Case)
	if err != nil {
		return out, err
	}
	names, err := checkpoints(c, in.Checkpoint)
	if err != nil {
		return out, err
	}
	out = getCaseOut{Case: clean(r.now(c.Key), 300), Complete: c.Complete, Opened: c.Opened.UTC(), Updated: c.Updated.UTC(), Checkpoints: []checkpointRow{}}
	for _, name := range names {
		out.Checkpoints = append(out.Checkpoints, checkpointOf(c.Checkpoints[name]))
	}
	return out, nil
}

func checkpointOf(cp routing.Checkpoint) checkpointRow {
	state, since := eventstream.StateOf(cp)
	row := checkpointRow{Name: clean(cp.Name, 200), State: string(state), Since: since.UTC(), Iteration: cp.Retries, Next: routing.Assess(cp, routing.DefaultPolicy()),
		SHA: clean(cp.Last.SHA, 100), Run: clean(cp.Last.URL, 300), Green: clean(cp.Green, 100)}
	row.Next.Reason = clean(row.Next.Reason, 300)
	if cp.Limited {
		row.Max = routing.Limit(cp, routing.Policy{})
	}
	if n := len(cp.Attempts); n > 0 {
		a := cp.Attempts[n-1]
		row.Decision, row.Class, row.Reason, row.Counts = a.Kind, a.Verdict.Class, clean(a.Reason, 500), a.Verdict.Counts
		row.SHA, row.Run = clean(a.Verdict.Run.SHA, 100), clean(a.Verdict.Run.URL, 300)
	}
	return row
}

type getPacketOut struct {
	answer
	Packet any `json:"packet" jsonschema:"the packet, as in the comment on the pull request"` // JSON
}

func (o *getPacketOut) rows() int { return 0 }
func (o *getPacketOut) keep(int)  {}

// packetMargin is what an answer holds beside a packet.
const packetMargin = 1 << 10

func (r reader) getPacket(ctx context.Context, in caseIn) (out getPacketOut, err error) {
	c, _, err := r.load(ctx, in.Case)
	if err != nil {
		return out, err
	}
	names, err := checkpoints(c, in.Checkpoint)
	switch {
	case err != nil:
		return out, err
	case len(names) == 0:
		return out, errors.New("the case has no checkpoint yet: no run was recorded")
	case len(names) > 1:
		failing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			state, _ := eventstream.StateOf(c.Checkpoints[name])
			return state == eventstream.Completed
		})
		if len(failing) != 1 {
			return out, fmt.Errorf("the case has several checkpoints; name one with checkpoint: %s", suggest.Hint("", cleanAll(names, 20, 200)))
		}
		names = failing
	}
	c.Key = r.now(c.Key)
	out.Packet = json.RawMessage(render.Packet(c, names[0], render.Options{Redact: redact.Text, Limit: mostBytes - packetMargin}))
	return out, nil
}
