package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// portJob is a job that runs one port of a repository, whose ledger is a branch.
type portJob struct {
	t *testing.T
	b *Bench
	r *Repo
	a Action
}

// newPortJob makes a port that passes in its third turn.
func newPortJob(t *testing.T) *portJob {
	t.Helper()
	b := Start(t)
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	j := &portJob{t: t, b: b, r: b.NewRepo(t, map[string]string{"README.md": "x\n"})}
	work := t.TempDir()
	write(t, work, "ports.yml", "id: greet\nimpl: sh impl.sh\ntest: sh test.sh\n")
	write(t, work, "impl.sh", `echo "$SWITCHBACK_ATTEMPT $GITHUB_TOKEN$SWITCHBACK_GITHUB_TOKEN" >> attempts
if [ $SWITCHBACK_ATTEMPT = 3 ]; then grep -q 'expected: hello' "$SWITCHBACK_FEEDBACK" && echo hello > hello.txt; fi; true`)
	write(t, work, "test.sh", `if [ "$(cat hello.txt 2>/dev/null)" = hello ]; then n=0; f=
else n=1; f='<failure type="AssertionError" message="expected: hello but was: nothing">expected: hello but was: nothing</failure>'; fi
echo "<testsuite name='greet' tests='1' failures='$n'><testcase classname='greet' name='says hello'>$f</testcase></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"
exit $n`)
	j.a = Action{Binary: bin, Args: []string{"port", "run", "--ports", "ports.yml", "greet"}, Repo: j.r, Workspace: work, Event: "workflow_dispatch", RunID: 700,
		Env: map[string]string{"SWITCHBACK_GITHUB_TOKEN": b.AppToken(t, ActionsAppID, j.r, map[string]string{"contents": "write"}), "SWITCHBACK_CONTENT_INTERVAL": "1ms"}}
	return j
}

// journal reads the port's stream from the branch.
func (j *portJob) journal() plan.Journal {
	j.t.Helper()
	var events []routing.Event
	for path, text := range j.r.Tree(j.t, "switchback-ledger") {
		if !strings.Contains(path, "greet") {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var e routing.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				j.t.Fatalf("%v in %s", err, line)
			}
			events = append(events, e)
		}
	}
	out, err := plan.FoldJournal(events)
	if err != nil {
		j.t.Fatal(err)
	}
	return out
}

// passed checks that the port came to its end as if nothing had happened.
func (j *portJob) passed(res Result) {
	j.t.Helper()
	if res.ExitCode != 0 || res.Outputs["status"] != "success" || res.Outputs["attempts"] != "3" {
		j.t.Errorf("exit %d %v\n%s", res.ExitCode, res.Outputs, res.Stderr)
	}
	jr := j.journal()
	var ids []string
	for _, m := range jr.Mail.Messages {
		ids = append(ids, strings.TrimPrefix(m.ID, jr.Loop.ChannelID+"/"))
	}
	if got := strings.Join(ids, " "); got != "result/1 feedback/1 result/2 feedback/2 result/3" || jr.Pairs != 1 || jr.Loop.CurrentTry != 2 || jr.Loop.Status != plan.Success {
		j.t.Errorf("%d pairs, %+v, messages %s", jr.Pairs, jr.Loop, got)
	}
	for _, v := range j.r.View().Violations() {
		j.t.Error(v)
	}
}

func TestPortInAJob(t *testing.T) {
	t.Parallel()
	t.Run("S2-20 S2-25 S2-28 in a job the ledger is a branch, and the workers do not see its token", func(t *testing.T) {
		t.Parallel()
		j := newPortJob(t)
		j.passed(j.b.RunAction(t, j.a))
		if attempts := readAll(j.a.Workspace + "/attempts"); attempts != "1 \n2 \n3 \n" {
			t.Errorf("%q", attempts)
		}
		if jr := j.journal(); jr.Loop.ID != "run-700/greet" || jr.Runner.Run != "700" {
			t.Errorf("%+v %+v", jr.Loop, jr.Runner)
		}
	})
	t.Run("a job killed at a write to the ledger goes on in the next run", func(t *testing.T) {
		t.Parallel()
		calm := newPortJob(t)
		v := calm.r.View()
		calm.passed(calm.b.RunAction(t, calm.a))
		for _, k := range killPoints(t, v.count(writes), 5) {
			j := newPortJob(t)
			a := j.a
			a.Kill = j.r.View().HoldAt(k.n, k.when, writes)
			first := j.b.RunAction(t, a)
			a.Kill.Release()
			if !first.Killed {
				t.Fatalf("write %d (%v) never was\n%s", k.n, k.when, first.Stderr)
			}
			a.Kill, a.RunID = nil, 701
			j.passed(j.b.RunAction(t, a))
		}
	})
}
