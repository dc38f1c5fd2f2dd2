package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// crowd is people who tick, untick and submit on one issue, and the bot that is
// told of it late, out of order and twice.
type crowd struct {
	*story
	rng     *rand.Rand
	number  int
	pending []map[string]any // events that were not delivered yet
	told    int
	asked   int             // submissions: edits by people who may, with Submit ticked
	ticked  map[string]bool // by people who may, and not taken off since
}

func (c *crowd) act() {
	p, _ := answers.Parse(c.body(c.number))
	boxes := slices.DeleteFunc(slices.Clone(p.Boxes), func(id string) bool { return !strings.HasPrefix(id, "quarantine:") })
	if len(boxes) == 0 {
		c.t.Fatal("no test is left to quarantine")
	}
	box := boxes[c.rng.IntN(len(boxes))]
	who := []string{Writer, Owner}[c.rng.IntN(2)]
	switch n := c.rng.IntN(10); {
	case n < 4:
		c.note(who, answers.Keep(c.body(c.number), []string{box}), func() { c.ticked[box] = true })
	case n < 5:
		c.note(who, answers.Untick(c.body(c.number), box), func() { delete(c.ticked, box) })
	case n < 7:
		c.note(who, answers.Keep(c.body(c.number), []string{answers.Submit}), func() {})
	case n < 8: // somebody who may not, alone: what they tick is put back before others see it
		if e := c.change(Triager, answers.Keep(c.body(c.number), []string{box})); e != nil {
			c.run(e)
		}
	default:
		c.tellSome()
	}
}

// note makes an edit and keeps the event; of one that changes nothing there is none.
func (c *crowd) note(who, body string, did func()) {
	e := c.change(who, body)
	if e == nil {
		return
	}
	did()
	if strings.Contains(body, "[x] **Submit**") {
		c.asked++
	}
	c.pending = append(c.pending, e)
	if c.rng.IntN(8) == 0 {
		c.pending = append(c.pending, e) // delivered twice
	}
}

func (c *crowd) change(who, body string) map[string]any {
	if body == c.body(c.number) {
		return nil
	}
	return c.edit(who, c.number, body)
}

// tellSome delivers one or two of the events, in any order and at the same time.
func (c *crowd) tellSome() {
	n := min(len(c.pending), 1+c.rng.IntN(2))
	var wg sync.WaitGroup
	for range n {
		i := c.rng.IntN(len(c.pending))
		e := c.pending[i]
		c.pending = slices.Delete(c.pending, i, i+1)
		a := c.storyAction(e)
		wg.Go(func() { c.finish(a) })
	}
	wg.Wait()
	c.told += n
}

func (c *crowd) run(e map[string]any) { c.finish(c.storyAction(e)) }

func (c *crowd) storyAction(e map[string]any) Action { return c.story.told("issues", maps.Clone(e)) }

func (c *crowd) finish(a Action) {
	if res := c.within(a, 0); res.ExitCode != 0 {
		c.t.Errorf("exit %d\n%s\n%s", res.ExitCode, res.Stdout, res.Stderr)
	}
}

// answers returns the boxes of every answer that the register holds, and the
// tests that were put into quarantine, both in the order of the ledger.
func (c *crowd) answers() (boxes [][]string, tests []string) {
	for path, text := range c.r.Tree(c.t, "switchback-ledger") {
		if !strings.HasSuffix(path, ".jsonl") {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var e struct {
				Type string
				Data struct {
					Action, Test string
					Answer       json.RawMessage
				}
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				c.t.Fatal(err)
			}
			switch {
			case e.Type == string(escalation.EventAnswered):
				var answer struct{ Boxes []string }
				if err := json.Unmarshal(e.Data.Answer, &answer); err != nil {
					c.t.Fatal(err)
				}
				boxes = append(boxes, answer.Boxes)
			case e.Data.Action == "quarantine":
				tests = append(tests, e.Data.Test)
			}
		}
	}
	return boxes, tests
}

// Two people tick, untick and submit at random, the bot hears of it late, out
// of order, at the same time and twice: no answer is lost or taken twice, and
// no tick is lost that nobody submitted. Each round runs to its end.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	stories, rounds := 4, 8
	if everyKill {
		stories, rounds = 10, 12
	}
	for n := range stories {
		t.Run(fmt.Sprintf("%d rounds of story %d", rounds, n), func(t *testing.T) {
			t.Parallel()
			names := []string{"TestAdd"}
			for i := range 45 {
				names = append(names, fmt.Sprintf("TestFlaky%02d", i))
			}
			s := newStory(t, "max_iterations: 0\n")
			s.r.Grant(t, Writer, "push")
			s.r.Grant(t, Triager, "triage")
			s.want(s.run(failing(names...), nil), 0, map[string]string{"decision": "ESCALATE_MAX_RETRY"})
			c := &crowd{story: s, rng: rand.New(rand.NewPCG(uint64(n), 7)), number: s.onlyIssue().Number, ticked: map[string]bool{}}
			for round := range rounds {
				for range 6 {
					c.act()
				}
				for len(c.pending) > 0 {
					c.tellSome()
				}
				c.check(round)
			}
			if c.told < rounds || c.asked == 0 {
				t.Errorf("only %d events were told, %d answers asked", c.told, c.asked)
			}
			boxes, _ := c.answers()
			t.Logf("%d events, %d submissions, %d taken", c.told, c.asked, len(boxes))
		})
	}
}

func (c *crowd) check(round int) {
	c.t.Helper()
	boxes, tests := c.answers()
	var taken []string
	for _, b := range boxes {
		taken = append(taken, b...)
	}
	done := map[string]bool{}
	for _, test := range tests {
		if done[answers.TestID(test)] {
			c.t.Errorf("round %d: %s was answered twice", round, test)
		}
		done[answers.TestID(test)] = true
	}
	for _, id := range taken {
		if !done[id] {
			c.t.Errorf("round %d: %s was taken and not carried out", round, id)
		}
	}
	if len(taken) != len(tests) {
		c.t.Errorf("round %d: %d boxes were taken, %d carried out", round, len(taken), len(tests))
	}
	refused := 0
	for _, body := range c.replies(c.number) {
		if strings.Contains(body, "/reply/edit/") {
			refused++
		}
	}
	if refused+len(boxes) != c.asked {
		c.t.Errorf("round %d: %d submissions, of which %d were taken and %d refused", round, c.asked, len(boxes), refused)
	}
	p := c.checkboxes(c.number)
	for id := range c.ticked {
		if !done[id] && slices.Contains(p.Boxes, id) && !slices.Contains(p.Ticked, id) {
			c.t.Errorf("round %d: the tick of %s is lost; ticked are %q", round, id, p.Ticked)
		}
	}
	if p.Submitted() {
		c.t.Errorf("round %d: Submit is ticked, and everything was told", round)
	}
}
