package steps

import (
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// marks reads the marks of services, shells and build tools. Most lines are none, which their first
// byte tells.
type marks struct {
	header    []string // lines of a group "Run …" whose end tells whether it is a step's header
	headerAt  int      // its first line, 0 outside
	evidence  bool     // the header has lines that only the runner prints
	buildkite bool
	script    string // "> name@1.0.0 test" of a package manager, before the line with its command
	scriptAt  int
}

const maxHeader = 400

func (m *marks) read(r *Reader, l testreport.Line) {
	if m.headerAt > 0 && m.inHeader(r, l) {
		return
	}
	switch l.Mark {
	case "":
		if len(l.Text) > 2 {
			m.plain(r, l.Text, l.No)
		}
	case "group":
		if strings.HasPrefix(l.Text, "Run ") {
			m.header, m.headerAt, m.evidence = append(m.header[:0], strings.Clone(l.Text[4:])), l.No, false
			return
		}
		group(r, l.Text, l.No)
	case "endgroup":
		if n := r.find(Group); n != nil && n.key == "group" {
			r.end(n, l.No)
		}
	case "section":
		azure(r, l.Text, l.No)
	case "command":
		r.begin(Command, "", l.Text, l.No)
	case "error":
		markedError(r, l.Text, l.No)
	}
}

// group opens a group of GitHub, which ends the one before.
func group(r *Reader, name string, no int) {
	if n := r.find(Group); n != nil && n.key == "group" {
		r.end(n, no-1)
	}
	r.begin(Group, name, "", no).key = "group"
}

// inHeader reads a line between "##[group]Run" and its end. Only the runner's own header prints
// "shell:", "with:" or "env:"; another group of that name is a fold of the program.
func (m *marks) inHeader(r *Reader, l testreport.Line) bool {
	switch {
	case l.Mark == "endgroup":
		if m.evidence || len(m.header) == 1 {
			m.step(r)
		} else {
			m.release(r)
			r.end(r.find(Group), l.No)
		}
		m.headerAt = 0
		return true
	case l.Mark == "error" || l.Mark == "group" || len(m.header) >= maxHeader:
		m.release(r)
		return false
	case strings.HasPrefix(l.Text, "shell: ") || l.Text == "with:" || l.Text == "env:":
		m.evidence = true
	}
	if !m.evidence && len(l.Text) < maxCommand {
		m.header = append(m.header, strings.Clone(l.Text))
	}
	return true
}

// step begins the step whose header was read. The header's title repeats the script's first line.
func (m *marks) step(r *Reader) {
	command := m.header[0]
	if len(m.header) > 1 {
		command = strings.Join(m.header[1:], "\n")
	}
	settleStep(r, m.headerAt)
	r.cleanup = false
	r.begin(Step, m.header[0], command, m.headerAt).key = "run"
	m.headerAt = 0
}

// settleStep ends the step of GitHub that is open: the runner starts the next one behind it. A step
// whose last words are an error that the runner marked has failed.
func settleStep(r *Reader, no int) {
	n := r.find(Step)
	if n == nil || n.key != "run" || n.Status != Unstated {
		return
	}
	switch {
	case n.errors > 0 && n.errors >= r.text-1:
		r.state(n, Failed, 0, n.errors)
	case n.errors == 0:
		n.Status = Passed
	}
}

// release makes a fold of a group that turned out not to be a header.
func (m *marks) release(r *Reader) {
	group(r, "Run "+m.header[0], m.headerAt)
	m.headerAt = 0
}

// endOfSteps begins the work of the service behind the steps.
func endOfSteps(r *Reader, name string, no int) {
	if !r.cleanup {
		settleStep(r, no)
	}
	r.cleanup = true
	r.begin(Cleanup, name, "", no)
}

// azure reads ##[section] of Azure Pipelines.
func azure(r *Reader, text string, no int) {
	switch {
	case strings.HasPrefix(text, "Starting: "):
		name := strings.TrimPrefix(text, "Starting: ")
		if strings.HasPrefix(name, "Post-job: ") || strings.HasPrefix(name, "Finalize ") {
			endOfSteps(r, name, no)
			return
		}
		r.begin(Step, name, "", no).key = "section"
	case strings.HasPrefix(text, "Finishing: "):
		if n := r.find(Step); n != nil && n.key == "section" && n.Name == clip(text[len("Finishing: "):], maxName) {
			if n.Status == Unstated && n.errors == 0 {
				r.state(n, Passed, 0, no)
			} else if n.Status == Unstated {
				r.state(n, Failed, 0, n.errors)
			}
			r.end(n, no)
		}
	}
}

// markedError reads a line that the service marked as an error.
func markedError(r *Reader, text string, no int) {
	n := r.find(Step)
	if s, code, ok := statusOf(text); ok {
		switch {
		case r.cleanup:
		case n == nil: // the log begins within the step
			n = r.begin(Step, "", "", no)
			if len(r.nodes) == r.first+2 {
				n.First = r.job().First
			}
			fallthrough
		default:
			r.state(n, s, code, no)
		}
		return
	}
	if n != nil && !r.cleanup {
		n.errors = no
	}
}

var (
	exitCode  = lazyregexp.New(`^(?:Error: )?(?:Process completed with|(?:Bash|PowerShell|Cmd\.exe|PowerShell Core|Script) exited with) (?:exit )?code '?(-?\d+)'?\.?$`)
	cancelled = lazyregexp.New(`^(?:Error: )?(?:The (?:operation|job|run) was cancell?ed\b|The runner has received a shutdown signal|Cancell?ing since a higher priority|The self-hosted runner lost communication|Job was cancell?ed)`)
	overTime  = lazyregexp.New(`^(?:Error: )?(?:The (?:action|step) .* has timed out after|The job (?:running on .* )?has exceeded the maximum execution time|The (?:task|operation|job) has timed out|The job exceeded the maximum time limit)`)
)

// statusOf reads what a service says of the step that ends with this line.
func statusOf(text string) (Status, int, bool) {
	if g := exitCode.FindStringSubmatch(text); g != nil {
		code, _ := strconv.Atoi(g[1])
		return ofCode(code), code, true
	}
	switch {
	case cancelled.MatchString(text):
		return Cancelled, 0, true
	case overTime.MatchString(text):
		return TimedOut, 0, true
	}
	return Unstated, 0, false
}

func ofCode(code int) Status {
	if code == 0 {
		return Passed
	}
	return Failed
}

// plain reads a line without a mark of the runner.
func (m *marks) plain(r *Reader, t string, no int) {
	if m.script != "" && t[0] == '>' && no <= m.scriptAt+2 {
		r.begin(Target, m.script, strings.TrimPrefix(t, "> "), no)
		m.script = ""
		return
	}
	switch t[0] {
	case '+', '$', '[', '~', '-', '#', '^':
		m.trace(r, t, no)
	case '>', 'n', 'm', 'y', 'e', ' ', 'j', '/':
		m.tool(r, t, no)
	case 't', 's', 'T', 'D', 'J', 'E', 'F', 'P', 'C', 'U', 'R', 'G', 'S', 'B', 0xf0, 0xe2:
		service(r, t, no)
	}
	if c := t[0]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' {
		toxLine(r, t, no)
	}
}

var (
	travisCommand = lazyregexp.New(`^The command .*" (failed and )?exited with (\d+)`)
	travisDone    = lazyregexp.New(`^Done\. Your build exited with (\d+)`)
	gitlabFailed  = lazyregexp.New(`^(?:ERROR: )?Job failed(?: \([^)]*\))?(?:: (.*))?$`)
	gitlabCode    = lazyregexp.New(`^(?:.*: )?exit (?:code|status) (\d+)$`)
	gitlabStage   = lazyregexp.New(`^Executing "(\w+)" stage of the job script`)
	circleExit    = lazyregexp.New(`^Exited with (?:code )?(?:exit status )?(\d+)$|^CircleCI received exit code (\d+)$`)
	buildkiteExit = lazyregexp.New(`^(?:🚨 )?Error: The (?:command|plugin .*) exited with status (-?\d+)`)
	jenkinsCode   = lazyregexp.New(`^ERROR: script returned exit code (-?\d+)`)
	actResult     = lazyregexp.New(`^(✅|❌)\s+(Success|Failure) - (?:Main|Pre|Post) (.+?)(?: \[.*\])?$`)
)

// jobs are what services say at the end of a job, with the status it means.
var jobs = map[string]Status{
	"Finished: SUCCESS":                  Passed,
	"Finished: FAILURE":                  Failed,
	"Finished: UNSTABLE":                 Failed,
	"Finished: ABORTED":                  Cancelled,
	"Finished: NOT_BUILT":                Failed,
	"Job succeeded":                      Passed,
	"🏁  Job succeeded":                   Passed,
	"🏁  Job failed":                      Failed,
	"Done: Job Cancelled":                Cancelled,
	"CircleCI was unable to run the job": Failed,
}

func mayEndJob(t string) bool {
	switch t[0] {
	case 'F':
		return strings.HasPrefix(t, "Finished: ")
	case 'J', 'D', 'C', 0xf0:
		return true
	}
	return false
}

// service reads what services other than GitHub's print.
func service(r *Reader, t string, no int) {
	if mayEndJob(t) {
		if s, ok := jobs[strings.TrimRight(t, " ")]; ok {
			code := 0
			if r.job().Status == s {
				code = r.job().ExitCode
			}
			r.state(r.job(), s, code, no)
			return
		}
	}
	switch t[0] {
	case 't':
		if rest, ok := strings.CutPrefix(t, "travis_fold:"); ok {
			namedFold(r, rest, "start:", "end:", no)
		}
	case 's':
		switch {
		case strings.HasPrefix(t, "section_start:"):
			namedFold(r, "start:"+afterTime(t[len("section_start:"):]), "start:", "end:", no)
		case strings.HasPrefix(t, "section_end:"):
			namedFold(r, "end:"+afterTime(t[len("section_end:"):]), "start:", "end:", no)
		case strings.HasPrefix(t, "script returned exit code"):
			jenkinsError(r, "ERROR: "+t, no)
		}
	case 'T':
		travisLine(r, t, no)
	case 'D':
		if !strings.HasPrefix(t, "Done. ") {
			return
		}
		if g := travisDone.FindStringSubmatch(t); g != nil {
			code, _ := strconv.Atoi(g[1])
			r.state(r.job(), ofCode(code), code, no)
		}
	case 'J', 'E':
		if strings.HasPrefix(t, "ERROR: ") || strings.HasPrefix(t, "Job failed") || strings.HasPrefix(t, "Ex") || strings.HasPrefix(t, "Error: The command") {
			jobEnd(r, t, no)
		}
	case 'P':
		switch {
		case strings.HasPrefix(t, "Post job cleanup."):
			endOfSteps(r, t, no)
		case strings.HasPrefix(t, "Process completed with") || strings.HasPrefix(t, "PowerShell exited with"):
			markedError(r, t, no)
		case strings.HasPrefix(t, "Preparing environment"):
			r.begin(Step, t, "", no).Role = Unknown
		}
	case 'B', 'S':
		switch {
		case strings.HasPrefix(t, "Bash exited with"), strings.HasPrefix(t, "Script exited with"):
			markedError(r, t, no)
		case strings.HasPrefix(t, "Build step '") && strings.HasSuffix(t, "marked build as failure"):
			r.state(r.job(), Failed, 0, no)
		case strings.HasPrefix(t, "Build was aborted"):
			r.state(r.job(), Cancelled, 0, no)
		case strings.HasPrefix(t, "Build timed out (after"):
			r.state(r.job(), TimedOut, 0, no)
		case strings.HasPrefix(t, "BUILD "):
			buildResult(r, t, no)
		case strings.HasPrefix(t, "Saving cache for successful job"):
			r.begin(Cleanup, t, "", no)
		case strings.HasPrefix(t, "Step ") && strings.Contains(t, " : RUN "):
			dockerRun(r, t, no)
		}
	case 'C':
		switch {
		case strings.HasPrefix(t, "Cleaning up orphan processes"):
			endOfSteps(r, t, no)
		case strings.HasPrefix(t, "Cleaning up project directory"):
			r.cleanup = true
			r.begin(Cleanup, t, "", no)
		case strings.HasPrefix(t, "Cmd.exe exited with"):
			markedError(r, t, no)
		case strings.HasPrefix(t, "CircleCI received exit code"):
			jobEnd(r, t, no)
		case strings.HasPrefix(t, "Cancelling nested steps due to timeout"):
			r.state(r.job(), TimedOut, 0, no)
		}
	case 'U':
		if strings.HasPrefix(t, "Uploading artifacts for ") {
			r.begin(Cleanup, t, "", no)
		}
	case 'R':
		if strings.HasPrefix(t, "Running after_script") {
			r.begin(Cleanup, t, "", no)
		}
	case 'G':
		if strings.HasPrefix(t, "Getting source from Git repository") {
			r.begin(Step, t, "", no).Role = Fetch
		}
	case 'F':
		if strings.HasPrefix(t, "FAILED: ") && !strings.HasPrefix(t, "FAILED: Build did NOT") {
			names := strings.Fields(t[len("FAILED: "):])
			if len(names) > 1 && strings.HasPrefix(names[0], "[code=") {
				names = names[1:]
			}
			targetFailed(r, names, no)
		}
	case 0xf0, 0xe2:
		pictured(r, t, no)
	}
}

func afterTime(t string) string {
	_, name, _ := strings.Cut(t, ":")
	return name
}

// namedFold opens or closes a fold with a name, of Travis or GitLab.
func namedFold(r *Reader, t, start, end string, no int) {
	if name, ok := strings.CutPrefix(t, start); ok {
		name, _, _ = strings.Cut(name, "\r")
		name, _, _ = strings.Cut(name, "[")
		r.begin(Group, name, "", no).key = "fold:" + strings.TrimSpace(name)
		return
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(t, end), "\r")
	for i := len(r.open) - 1; i > 0; i-- {
		if r.open[i].key == "fold:"+strings.TrimSpace(name) {
			r.end(r.open[i], no)
			return
		}
	}
}

func travisLine(r *Reader, t string, no int) {
	var g []string
	if strings.HasPrefix(t, "The command ") {
		g = travisCommand.FindStringSubmatch(t)
	}
	if g != nil {
		code, _ := strconv.Atoi(g[2])
		n := r.find(Command)
		if n == nil {
			n = r.begin(Command, "", quoted(t), no)
		}
		n.final = true
		r.state(n, ofCode(code), code, no)
		r.end(n, no)
		if g[1] != "" {
			r.state(r.job(), Failed, code, no)
		}
		return
	}
	if strings.HasPrefix(t, "The job exceeded the maximum") || strings.HasPrefix(t, "The log length has exceeded the limit") ||
		strings.HasPrefix(t, "The build has been terminated") {
		r.state(r.job(), TimedOut, 0, no)
		return
	}
	if strings.HasPrefix(t, "Too long with no output") {
		r.state(r.job(), TimedOut, 0, no)
		return
	}
	if strings.HasPrefix(t, "The ") {
		if s, _, ok := statusOf(t); ok && s != Passed {
			markedError(r, t, no)
		}
	}
}

func quoted(t string) string {
	_, t, _ = strings.Cut(t, `"`)
	if i := strings.LastIndexByte(t, '"'); i >= 0 {
		t = t[:i]
	}
	return strings.TrimPrefix(t, "eval ")
}

// jobEnd reads how GitLab, Jenkins and CircleCI say that a job failed.
func jobEnd(r *Reader, t string, no int) {
	if g := gitlabFailed.FindStringSubmatch(t); g != nil && (strings.HasPrefix(t, "ERROR: ") || g[1] != "" || t == "Job failed") {
		status, code := Failed, 0
		switch why := g[1]; {
		case strings.Contains(why, "execution took longer"):
			status = TimedOut
		case strings.Contains(why, "cancel"):
			status = Cancelled
		default:
			if c := gitlabCode.FindStringSubmatch(why); c != nil {
				code, _ = strconv.Atoi(c[1])
			}
		}
		r.state(r.job(), status, code, no)
		return
	}
	if g := circleExit.FindStringSubmatch(t); g != nil {
		code, _ := strconv.Atoi(g[1] + g[2])
		r.state(r.job(), ofCode(code), code, no)
		return
	}
	if g := gitlabStage.FindStringSubmatch(t); g != nil {
		k := Step
		if g[1] == "after_script" {
			k = Cleanup
		}
		r.begin(k, g[1], "", no)
		return
	}
	switch {
	case strings.HasPrefix(t, "Error: The command exited with status "):
		pictured(r, t, no)
	case strings.HasPrefix(t, "Execution failed for task '"):
		name, _, _ := strings.Cut(t[len("Execution failed for task '"):], "'")
		targetFailed(r, []string{name}, no)
	default:
		jenkinsError(r, t, no)
	}
}

func jenkinsError(r *Reader, t string, no int) {
	if g := jenkinsCode.FindStringSubmatch(t); g != nil {
		code, _ := strconv.Atoi(g[1])
		n := r.find(Step)
		if n == nil {
			n = r.job()
		}
		r.state(n, ofCode(code), code, no)
	}
}

// pictured reads the lines of Buildkite and act that begin with a picture.
func pictured(r *Reader, t string, no int) {
	if g := buildkiteExit.FindStringSubmatch(t); g != nil {
		code, _ := strconv.Atoi(g[1])
		r.state(r.job(), ofCode(code), code, no)
		return
	}
	if g := actResult.FindStringSubmatch(t); g != nil {
		if n := r.find(Step); n != nil && n.key == "act" {
			s := Passed
			if g[2] == "Failure" {
				s = Failed
			}
			r.state(n, s, 0, no)
			r.end(n, no)
		}
		return
	}
	if strings.Contains(t[:min(len(t), 24)], "ELIFECYCLE") { // behind a thin space
		pnpmLine(r, t, no)
		return
	}
	if name, ok := strings.CutPrefix(t, "⭐ Run "); ok {
		name = strings.TrimPrefix(strings.TrimSpace(name), "Main ")
		r.begin(Step, name, name, no).key = "act"
	}
}
