package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

// stands is what people see of a plan, and what its projections hold.
func (p *planStory) stands() string {
	p.t.Helper()
	var out []string
	for _, i := range p.r.Issues(p.t) {
		labels := p.r.IssueLabels(p.t, i.Number)
		slices.Sort(labels)
		title, _, _ := strings.Cut(i.Title, " — ")
		out = append(out, fmt.Sprint(title, " ", i.State, " ", labels, " ", len(p.r.Comments(p.t, i.Number)), " comments"))
	}
	slices.Sort(out)
	return strings.Join(out, "\n") + fmt.Sprint("\n", p.states(), len(p.starts()) > 0, len(p.journal("model").Answers))
}

// waiting is a plan with a port that is to open an issue, and feedback for people.
func waiting(t *testing.T) *planStory {
	t.Helper()
	p := newPlanStory(t, "- {id: model, max_iterations: 0, test: [sh test.sh]}\n- {id: refunds, status: held, depends_on: model, test: [sh test.sh]}\n", "")
	p.does(p.step("plan", nil))
	p.want(p.say(Writer, p.one("Plan of ports").Number, lacksRefunds), 0, nil)
	p.b.RunAction(t, p.step("port", map[string]string{"port": "model"}))
	return p
}

// atWrites kills what act does at some of its writes, does it again, and
// compares the end with that of an undisturbed one.
func atWrites(t *testing.T, prepare func(*testing.T) *planStory, act func(*planStory) Action) {
	t.Helper()
	calm := prepare(t)
	a := act(calm)
	v := calm.r.View()
	calm.want(calm.b.RunAction(t, a), 0, nil)
	total, want := v.count(writes), calm.stands()
	for _, k := range killPoints(t, total, 4) {
		t.Run(fmt.Sprintf("killed at write %d (%v) of %d", k.n, k.when, total), func(t *testing.T) {
			t.Parallel()
			p := prepare(t)
			a := act(p)
			a.Kill = p.r.View().HoldAt(k.n, k.when, writes)
			res := p.b.RunAction(t, a)
			a.Kill.Release()
			if !res.Killed {
				t.Logf("not killed: it had less to write")
			}
			a.Kill = nil
			p.want(p.b.RunAction(t, a), 0, nil)
			if got := p.stands(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			p.clean()
		})
	}
}

func TestIssuesOfPlansKilled(t *testing.T) {
	t.Parallel()
	t.Run("S2-70 the issues of a port and of a planning request are filed once", func(t *testing.T) {
		t.Parallel()
		atWrites(t, waiting, func(p *planStory) Action { return p.step("collect", map[string]string{"level": p.level}) })
	})
	called := func(t *testing.T) *planStory {
		p := waiting(t)
		p.does(p.step("collect", map[string]string{"level": p.level}))
		return p
	}
	t.Run("S2-71 a command about a port is carried out once", func(t *testing.T) {
		t.Parallel()
		atWrites(t, called, func(p *planStory) Action {
			n := p.one("Escalation report").Number
			id := p.r.Comment(p.t, Writer, n, "/switchback reset")
			return p.told("issue_comment", map[string]any{"action": "created", "issue": p.issueNow(n), "sender": p.user(Writer),
				"comment": map[string]any{"id": id, "body": "/switchback reset", "user": p.user(Writer)}})
		})
	})
	t.Run("S3-46 an answer to a planning request is carried out once", func(t *testing.T) {
		t.Parallel()
		atWrites(t, called, func(p *planStory) Action {
			return p.told("issues", p.tick(Writer, p.one("refunds asks").Number, "planned", answers.Submit))
		})
	})
}
