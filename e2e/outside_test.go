package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// outside is the Action as a workflow of its own on workflow_run, which sees
// the run of a pull request from outside.
func (s *story) outside(run *Run, in map[string]string) Result {
	s.t.Helper()
	return s.b.RunAction(s.t, s.outsideAction(run, in))
}

func (s *story) outsideAction(run *Run, in map[string]string) Action {
	s.t.Helper()
	bin, err := switchback()
	if err != nil {
		s.t.Fatal(err)
	}
	payload := s.r.RunPayload(run, "completed")
	return Action{
		Binary: bin, Args: []string{"action"}, Repo: s.r, Token: s.token, Event: "workflow_run", Payload: payload,
		RunID: 50_000 + run.ID, Inputs: in, Workspace: s.t.TempDir(),
		Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"},
	}
}

// fork makes the story's pull request one from a fork of Stranger.
func (s *story) fork(branch string) *Repo {
	s.t.Helper()
	f := s.r.Fork(s.t, Stranger)
	s.sha = f.Commit(s.t, branch, "work", map[string]string{"calc.go": "package calc\n"})
	s.number = s.r.PullRequest(s.t, Stranger, Stranger+":"+branch, "Add things from afar", "")
	return f
}

// ranOn is a failed run of the story's head commit with a report as artifact.
func (s *story) ranOn(head *Repo, branch, report string) Run {
	return Run{HeadSHA: s.sha, HeadBranch: branch, HeadRepo: head.FullName, Conclusion: "failure",
		Jobs:      []Job{{Name: "unit", Log: "no test output here\n"}},
		Artifacts: []Artifact{{Name: "reports", Files: map[string]string{"unit/report.xml": report, "README.txt": "nothing"}}}}
}

func TestOutsideFork(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	own := s.number
	f := s.fork("feature")
	f.Commit(t, "feature", "its own configuration", map[string]string{".github/switchback.yml": "max_iterations: 9\nlanguage: ko\n"})
	s.sha = f.SHA(t, "feature")
	run := s.r.AddRun(s.ranOn(f, "feature", failing("TestAdd")))
	a := s.outsideAction(run, map[string]string{"reports": "**/report.xml", "checkpoint": "unit"})
	res := s.b.RunAction(t, a)
	s.want(res, 0, map[string]string{"decision": "RETRY", "iteration": "1", "max-iterations": "3", "class": "LOGIC_ERROR"})
	t.Run("a fork's run is routed to its own pull request and no other", func(t *testing.T) {
		if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "TestAdd") || !strings.Contains(got[0], "1 of 3") {
			t.Errorf("%q", got)
		}
		for _, c := range s.r.Comments(t, own) {
			t.Errorf("on the other pull request with a branch of the same name: %s", c.Body)
		}
	})
	t.Run("the configuration is the default branch's, whatever the fork's branch says", func(t *testing.T) {
		if res.Outputs["max-iterations"] != "3" || strings.Contains(s.bot()[0], "반") {
			t.Errorf("%v\n%s", res.Outputs, s.bot()[0])
		}
	})
	t.Run("nothing of the pull request is checked out", func(t *testing.T) {
		if left, err := os.ReadDir(a.Workspace); err != nil || len(left) > 0 {
			t.Errorf("%v %v", left, err)
		}
		for _, q := range s.b.requests() {
			if strings.Contains(q.Path, "ball") || strings.HasPrefix(q.Path, "/repos/"+f.FullName) && q.Content() {
				t.Errorf("request %v", q)
			}
		}
	})
	t.Run("the next commit that passes ends it in the same comment", func(t *testing.T) {
		s.sha = f.Commit(t, "feature", "fixed", map[string]string{"calc.go": "package calc\n\n// fixed\n"})
		next := s.ranOn(f, "feature", passing)
		next.Conclusion = "success"
		s.view.Reset()
		res := s.outside(s.r.AddRun(next), map[string]string{"reports": "reports/unit/*.xml", "checkpoint": "unit"})
		s.want(res, 0, map[string]string{"decision": "PASS"})
		if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "✅") {
			t.Errorf("%q", got)
		}
		t.Logf("a passing run of a fork: %d requests\n%s", len(s.view.Requests()), list(s.view))
	})
	t.Run("a run whose commit the fork has left behind is nobody's", func(t *testing.T) {
		old := s.ranOn(f, "feature", failing("TestOld"))
		s.sha = f.Commit(t, "feature", "newer", map[string]string{"calc.go": "package calc\n\n// newer\n"})
		comments, events := fmt.Sprint(s.bot()), fmt.Sprint(s.events())
		res := s.outside(s.r.AddRun(old), map[string]string{"reports": "**/*.xml", "checkpoint": "unit"})
		if res.ExitCode != 0 || fmt.Sprint(s.bot()) != comments || fmt.Sprint(s.events()) != events || len(s.r.Issues(t)) != 0 {
			t.Errorf("exit %d, %v\n%s\n%q\n%v", res.ExitCode, res.Outputs, res.Stdout, s.bot(), s.events())
		}
	})
	s.clean()
}

func TestOutsideForkOfMain(t *testing.T) {
	t.Parallel()
	t.Run("a run of a fork's main without a pull request is not taken for the repository's main", func(t *testing.T) {
		s := newStory(t, "")
		f := s.r.Fork(t, Stranger)
		s.sha = f.Commit(t, "main", "work", map[string]string{"calc.go": "package calc\n"})
		res := s.outside(s.r.AddRun(s.ranOn(f, "main", environment)), map[string]string{"reports": "**/*.xml"})
		if res.ExitCode != 0 || len(s.r.Issues(t)) != 0 || len(s.events()) != 0 {
			t.Errorf("exit %d, issues %+v, events %v\n%s", res.ExitCode, s.r.Issues(t), s.events(), res.Stdout)
		}
		s.clean()
	})
	t.Run("a number of another repository's pull request is not taken for one here", func(t *testing.T) {
		s := newStory(t, "") // GitHub lists pull requests of forks and upstreams alike, by their numbers there
		s.r.Commit(t, "other", "other work", map[string]string{"o.go": "package calc\n"})
		run := s.ranOn(s.r, "other", failing("TestAdd"))
		run.HeadSHA, run.Pulls = s.r.SHA(t, "other"), []int{s.number}
		s.outside(s.r.AddRun(run), map[string]string{"reports": "**/*.xml"})
		if got := s.events(); len(s.bot()) != 0 || len(got) != 0 {
			t.Errorf("%q %v", s.bot(), got)
		}
		s.clean()
	})
}

const ghaGoLog = "2026-03-01T10:00:00.1000000Z ##[group]Run go test ./...\r\n" +
	"2026-03-01T10:00:00.1100000Z \x1b[36;1mgo test ./...\x1b[0m\r\n" +
	"2026-03-01T10:00:00.1200000Z ##[endgroup]\r\n" +
	"2026-03-01T10:00:02.2000000Z --- FAIL: TestAdd (0.00s)\r\n" +
	"2026-03-01T10:00:02.2000001Z     calc_test.go:7: Add(1, 2): got 4, want 3\r\n" +
	"2026-03-01T10:00:02.2000002Z FAIL\r\n" +
	"2026-03-01T10:00:02.2000003Z FAIL\texample.com/calc\t0.003s\r\n" +
	"2026-03-01T10:00:02.2000004Z FAIL\r\n" +
	"2026-03-01T10:00:02.3000000Z ##[error]Process completed with exit code 1.\r\n"

const ghaPytestLog = "2026-03-01T10:00:00.1000000Z ##[group]Run pytest\r\n" +
	"2026-03-01T10:00:00.1200000Z ##[endgroup]\r\n" +
	"2026-03-01T10:00:01.0000000Z ============================= test session starts ==============================\r\n" +
	"2026-03-01T10:00:01.0000001Z platform linux -- Python 3.12.3, pytest-8.2.0, pluggy-1.5.0\r\n" +
	"2026-03-01T10:00:01.0000002Z collected 2 items\r\n" +
	"2026-03-01T10:00:01.0000003Z \r\n" +
	"2026-03-01T10:00:01.0000004Z tests/test_calc.py .F                                                     [100%]\r\n" +
	"2026-03-01T10:00:01.0000005Z \r\n" +
	"2026-03-01T10:00:01.0000006Z =================================== FAILURES ===================================\r\n" +
	"2026-03-01T10:00:01.0000007Z ___________________________________ test_add ___________________________________\r\n" +
	"2026-03-01T10:00:01.0000008Z \r\n" +
	"2026-03-01T10:00:01.0000009Z     def test_add():\r\n" +
	"2026-03-01T10:00:01.0000010Z >       assert add(1, 2) == 3\r\n" +
	"2026-03-01T10:00:01.0000011Z E       assert 4 == 3\r\n" +
	"2026-03-01T10:00:01.0000012Z E        +  where 4 = add(1, 2)\r\n" +
	"2026-03-01T10:00:01.0000013Z \r\n" +
	"2026-03-01T10:00:01.0000014Z tests/test_calc.py:6: AssertionError\r\n" +
	"2026-03-01T10:00:01.0000015Z =========================== short test summary info ============================\r\n" +
	"2026-03-01T10:00:01.0000016Z FAILED tests/test_calc.py::test_add - assert 4 == 3\r\n" +
	"2026-03-01T10:00:01.0000017Z ========================= 1 failed, 1 passed in 0.02s ==========================\r\n" +
	"2026-03-01T10:00:01.3000000Z ##[error]Process completed with exit code 1.\r\n"

// seen files a run of the story's own branch with the given outcome.
func (s *story) seen(run Run) *Run {
	run.HeadSHA, run.HeadBranch, run.Pulls = s.sha, "feature", []int{s.number}
	return s.r.AddRun(run)
}

func TestOutsideLogs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, log, test, place string }{
		{"a go test log with GitHub's timestamps is read where there is no artifact", ghaGoLog, "TestAdd", "calc_test.go"},
		{"a pytest log with GitHub's timestamps is read where there is no artifact", ghaPytestLog, "test_add", "tests/test_calc.py"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(t, "")
			run := s.seen(Run{Conclusion: "failure", Jobs: []Job{{Name: "lint", Conclusion: "success", Log: "2026-03-01T10:00:00.1000000Z ok\n"}, {Name: "unit", Log: c.log}}})
			res := s.outside(run, nil)
			s.want(res, 0, map[string]string{"decision": "RETRY", "iteration": "1", "class": "LOGIC_ERROR"})
			got := s.bot()
			if len(got) != 1 || !strings.Contains(got[0], c.test) || !strings.Contains(got[0], c.place) || strings.Contains(got[0], "T10:00:0") {
				t.Errorf("%q", got)
			}
			for _, q := range s.view.Requests() {
				if strings.HasSuffix(q.Path, "/logs") && q.Path != fmt.Sprintf("/repos/%s/actions/jobs/%d/logs", s.r.FullName, run.Jobs[1].ID) {
					t.Errorf("a green job's log was read: %v", q)
				}
			}
			t.Logf("a failing run seen from outside: %d requests\n%s", len(s.view.Requests()), list(s.view))
			s.clean()
		})
	}
}

func TestOutsideConclusions(t *testing.T) {
	t.Parallel()
	report := []Artifact{{Name: "reports", Files: map[string]string{"report.xml": passing}}}
	for _, c := range []string{"startup_failure", "action_required", "cancelled", "timed_out", "skipped", "neutral", "stale"} {
		t.Run(fmt.Sprintf("a run that ended as %s is no pass, whatever its report says", c), func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "")
			want := "ESCALATE_UNCLEAR"
			switch c {
			case "timed_out":
				want = "RETRY"
			case "action_required":
				want = "NONE" // S5-95: it waits for an approval, and its result is still to come
			}
			res := s.outside(s.seen(Run{Conclusion: c, Artifacts: report, Jobs: []Job{{Name: "unit", NoLog: true}}}), map[string]string{"reports": "*.xml", "fail-on": "never"})
			s.want(res, 0, map[string]string{"decision": want})
			for _, k := range s.r.CheckRuns(t, s.sha) {
				if k.Conclusion == "success" {
					t.Errorf("%+v", k)
				}
			}
			s.clean()
		})
	}
	t.Run("a success without any report is told to the job at first, and is unclear from the second run on", func(t *testing.T) {
		s := newStory(t, "")
		ran := func() Result {
			return s.outside(s.seen(Run{Conclusion: "success", Jobs: []Job{{Name: "unit", Log: "2026-03-01T10:00:00.1Z done\n"}},
				Artifacts: []Artifact{{Name: "out", Files: map[string]string{"junit/report.json": passing}}}}), map[string]string{"reports": "*.xml"})
		}
		res := ran()
		s.want(res, 1, map[string]string{"decision": "NONE"})
		if !strings.Contains(res.Stdout, "out/junit/report.json looks like a report. Write `reports: out/junit/report.json`") || len(s.r.Issues(t)) != 0 {
			t.Errorf("%d issues\n%s", len(s.r.Issues(t)), res.Stdout)
		}
		s.push()
		s.want(ran(), 1, map[string]string{"decision": "ESCALATE_UNCLEAR"})
		s.clean()
	})
	t.Run("a success without any report passes under require_report: false", func(t *testing.T) {
		s := newStory(t, "criteria: {require_report: false}\n")
		res := s.outside(s.seen(Run{Conclusion: "success", Jobs: []Job{{Name: "unit", Log: "2026-03-01T10:00:00.1Z done\n"}}}), map[string]string{"reports": "*.xml"})
		s.want(res, 0, map[string]string{"decision": "PASS"})
		s.clean()
	})
	t.Run("a failure without any report is no pass under require_report: false", func(t *testing.T) {
		s := newStory(t, "criteria: {require_report: false}\n")
		res := s.outside(s.seen(Run{Conclusion: "failure", Jobs: []Job{{Name: "unit", NoLog: true}}}), map[string]string{"reports": "*.xml"})
		s.want(res, 1, map[string]string{"decision": "ESCALATE_UNCLEAR"})
		s.clean()
	})
}

func TestOutsideArtifacts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		art  Artifact
		says string
	}{
		{"an artifact with a path that climbs is refused and said", Artifact{Zip: zipOf(t, "../../report.xml", passing)}, "climbs"},
		{"a zip bomb is refused and said", Artifact{Zip: bomb(t)}, "unpacked"},
		{"an expired artifact is said", Artifact{Files: map[string]string{"report.xml": passing}, Expired: true}, "expired"},
		{"an artifact that is no archive is said", Artifact{Zip: []byte("no archive")}, "not a zip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(t, "")
			c.art.Name = "reports"
			res := s.outside(s.seen(Run{Conclusion: "success", Jobs: []Job{{Name: "unit", NoLog: true}}, Artifacts: []Artifact{c.art}}), map[string]string{"reports": "**/*.xml"})
			s.want(res, 1, map[string]string{"decision": "ESCALATE_UNCLEAR"})
			if i := s.onlyIssue(); !strings.Contains(res.Summary, c.says) || !strings.Contains(i.Body, c.says) {
				t.Errorf("%s\n%s", res.Summary, i.Body)
			}
			s.clean()
		})
	}
	t.Run("a broken artifact beside a green one is no pass", func(t *testing.T) {
		s := newStory(t, "")
		res := s.outside(s.seen(Run{Conclusion: "success", Jobs: []Job{{Name: "unit", NoLog: true}}, Artifacts: []Artifact{
			{Name: "good", Files: map[string]string{"report.xml": passing}}, {Name: "bad", Zip: []byte("x")}}}), map[string]string{"reports": "**/*.xml"})
		s.want(res, 1, map[string]string{"decision": "ESCALATE_UNCLEAR"})
		s.clean()
	})
	t.Run("of two artifacts of one name the later attempt's counts", func(t *testing.T) {
		s := newStory(t, "")
		run := s.seen(Run{Conclusion: "failure", Jobs: []Job{{Name: "unit", NoLog: true}}, Artifacts: []Artifact{{Name: "reports", Files: map[string]string{"report.xml": failing("TestAdd")}}}})
		s.want(s.outside(run, map[string]string{"reports": "*.xml"}), 0, map[string]string{"decision": "RETRY"})
		again := s.seen(Run{ID: run.ID, Attempt: 2, Conclusion: "success", Jobs: []Job{{Name: "unit", NoLog: true}}, Artifacts: []Artifact{{Name: "reports", Files: map[string]string{"report.xml": passing}}}})
		s.want(s.outside(again, map[string]string{"reports": "*.xml"}), 0, map[string]string{"decision": "PASS"})
		s.clean()
	})
}

// TestS6_7_BombsShareTheBudgetOfARun is S6-7: twelve archives of 200 KB that unpack to 2.4 GB
// share the budget of their run: the run is no pass, and the disk never holds more than what was
// downloaded.
func TestS6_7_BombsShareTheBudgetOfARun(t *testing.T) {
	t.Parallel()
	data := zipOf(t, "report.xml", "<testsuite>"+strings.Repeat(" ", 200<<20))
	var arts []Artifact
	for i := range 12 {
		arts = append(arts, Artifact{Name: fmt.Sprint("reports-", i), Zip: data})
	}
	arts = append(arts, Artifact{Name: "good", Files: map[string]string{"report.xml": passing}})
	s := newStory(t, "")
	a := s.outsideAction(s.seen(Run{Conclusion: "success", Jobs: []Job{{Name: "unit", NoLog: true}}, Artifacts: arts}), map[string]string{"reports": "**/*.xml"})
	temp := t.TempDir()
	a.Env["RUNNER_TEMP"], a.Env["TMPDIR"] = temp, temp
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for {
			most = max(most, bytesBelow(temp))
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	res := s.b.RunAction(t, a)
	close(stop)
	most := <-peak
	s.want(res, 1, map[string]string{"decision": "ESCALATE_UNCLEAR"})
	t.Logf("12 archives of %d bytes; at most %d bytes on disk", len(data), most)
	if downloads := int64(12*len(data) + 64<<10); most < int64(len(data)) || most > downloads {
		t.Errorf("%d bytes on disk, %d were downloaded", most, downloads)
	}
	if !strings.Contains(res.Summary, "bytes unpacked, which is the most that is read of one run; upload only reports") {
		t.Errorf("%s", res.Summary)
	}
	s.clean()
}

// bytesBelow is the size of all files in a directory, which others may remove meanwhile.
func bytesBelow(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

func TestOutsideOrder(t *testing.T) {
	t.Parallel()
	t.Run("an attempt that arrives after a later one decides nothing", func(t *testing.T) {
		s := newStory(t, "")
		one := s.seen(Run{Conclusion: "failure", Jobs: []Job{{Name: "unit", Log: ghaGoLog}}})
		two := s.seen(Run{ID: one.ID, Attempt: 2, Conclusion: "failure", Jobs: []Job{{Name: "unit", Log: ghaPytestLog}}})
		s.want(s.outside(two, nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		before := s.end().comments
		s.want(s.outside(one, nil), 0, map[string]string{"decision": "NONE", "iteration": "1"})
		if got := s.end().comments; got != before || s.count("run:RETRY") != 1 || s.count("run:NONE") != 1 {
			t.Errorf("%s\n%s\n%v", before, got, s.events())
		}
		s.clean()
	})
	t.Run("a run whose commit is no longer the head is recorded and decides nothing", func(t *testing.T) {
		s := newStory(t, "")
		run := s.seen(Run{Conclusion: "failure", Jobs: []Job{{Name: "unit", Log: ghaGoLog}}})
		s.push()
		s.want(s.outside(run, nil), 0, map[string]string{"decision": "NONE"})
		if len(s.bot()) != 0 || s.count("run:NONE") != 1 {
			t.Errorf("%q %v", s.bot(), s.events())
		}
		s.clean()
	})
}

func zipOf(t *testing.T, name, text string) []byte {
	t.Helper()
	return zipped(map[string]string{name: text})
}

// bomb is an archive with a file that says it has a terabyte.
func bomb(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "report.xml", Method: zip.Deflate, UncompressedSize64: 1 << 40, CompressedSize64: 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("boom")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
