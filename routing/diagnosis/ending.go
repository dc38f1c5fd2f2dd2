package diagnosis

import (
	"slices"
	"strings"

	coursesteps "github.com/switchback-ci/switchback/routing/diagnosis/steps"
	"github.com/switchback-ci/switchback/routing/internal/testruns"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// An ending is what a log says behind its last success.
type ending struct {
	line int
	text string
	// final reports that the run cannot have ended well, whatever its conclusion says: it was
	// cancelled, ran out of time or disk, or crashed. A command that failed can have been tolerated.
	final bool
}

var (
	// crash is what the system, the C library, a sanitizer or a runtime says of a process that did
	// not end by itself.
	crash = lazyregexp.New(`^(?:\S*: line \d+: +\d+ |\S+: |\w+ \d+ )?(?:Segmentation fault|File size limit exceeded|CPU time limit exceeded|Bus error|Illegal instruction|Floating point exception|Aborted|Killed|Trace/breakpoint trap|Abort trap)(?:: \d+)?(?: +\(core dumped\).*| +\S.*)?$|` +
		`\(core dumped\)$|^==\d+==(?:ERROR: \w+Sanitizer|ABORTING$)|^SUMMARY: \w+Sanitizer: |^\*\*\* Error in |^(?:fatal error: |runtime: )|^FATAL ERROR: .*(?:heap|memory)|` +
		`^(?:free|malloc|realloc|munmap_chunk|corrupted size|double free|\*\*\* stack smashing)\b.*|^Fatal Python error: |^# A fatal error has been detected by the Java Runtime|` +
		`(?i:\b(?:out of memory|oomkilled|signal: killed|sigkill|sigsegv|sigabrt|sigbus)\b)|^(?:fish|zsh): .*(?:killed|terminated by signal)|terminated by signal \w+|killed by signal \w+|` +
		`^panic: |^java\.lang\.OutOfMemoryError|^MemoryError\b`)
	// full is how programs of all kinds name a full disk.
	full = lazyregexp.New(`No space left on device|\bENOSPC\b|There is not enough space on the disk|Disk quota exceeded|write error: disk full|database or disk is full`)
	// stopped is what services and runners say of a run that they ended.
	stopped = lazyregexp.New(`(?i)^(?:error: )?(?:the (?:operation|job|run|workflow run|build) (?:was|has been) (?:cancell?ed|aborted|terminated)|the job (?:running on runner .* )?(?:has )?exceeded the maximum|` +
		`the (?:action|step) .* has timed out after|build timed out|job execution (?:has )?timed out|(?:panic: )?test timed out after|execution timed out|no output has been received in the last|` +
		`too long with no output|\[taskcluster:error\] (?:task aborted|aborting task)|aborted by |build was aborted|terminated\.?$|timeout: sending signal|received sig(?:int|term)\b|keyboardinterrupt$|.*: interrupt$)`)
	// ranOver is what a runner says of a test or a program of tests that it killed at its limit, also
	// between the results of others.
	ranOver = lazyregexp.New(`(?i)^(?:\*+ ?)?tests? (?:\S+ )?(?:was |were )?(?:ran over|ran too long|killed\b.*(?:ran|time|too long)|exceeded (?:the|its) (?:time ?limit|timeout))|^panic: test timed out after|^\*+ ?test killed|^(?:the )?test (?:run|suite|process) (?:timed out|exceeded)`)
	// interrupted is what runners say of a run that they broke off, before a summary that reads as usual.
	interrupted = lazyregexp.New(`^!{3,} .*(?:Exit|Interrupt|KeyboardInterrupt|stopping after).* !{3,}$|^(?:Exit|_pytest\.outcomes\.Exit): |(?i)\b[1-9]\d* tests? (?:remained pending|(?:were|was) pending|(?:were|was) not (?:run|completed)|did not (?:finish|complete)|left unfinished|never (?:ran|finished))|^\W*Timed out while running tests|^(?:=+ )?no tests (?:ran|collected)[,]? .*\bin \d|^(?:=+ )?no tests ran in \d|^Test run (?:aborted|cancell?ed|was interrupted)|^(?:Tests? )?run aborted\b`)
	// gate is how tools of coverage say that a threshold was missed.
	gate = lazyregexp.New(`(?i)\bcover(?:age|ed)\b.*\b(?:(?:is|are|was)? ?(?:below|under|less than|lower than)|(?:does|did|do|is|are|was) not (?:meet|met|reach|satisfied)|(?:has|have) not been (?:met|reached|satisfied)|not (?:met|reached|satisfied)|didn't meet|failed to (?:meet|reach)|but (?:the )?expected (?:minimum|maximum) is|exceeds? (?:the )?(?:global )?threshold)\b|` +
		`(?i)\bcoverage (?:failure|check failed|test failed|threshold (?:not met|failed|violation|violated))|\bfailed minimum (?:line|branch|function|decision) coverage|(?i)\buncovered count .* exceeds .*threshold|^FAIL(?:ED)?\b.* (?:required test coverage|code coverage below)`)
	notGate = lazyregexp.New(`(?i)^\s*(?:warn|note|info|\[warn|\[info)|\bif (?:the )?coverage|should|\bfail if\b`)

	// complaint is the shape of a message that says that something failed, in the words of no tool in
	// particular: the name of a program or place before an error word, or the end of a sentence that
	// says it.
	complaint = lazyregexp.New(`(?i)^(?:\W{0,4})(?:[\w./\\@-]+(?:\[\d+\]|\(\d+\))?: ){0,3}(?:\*\*\* )?\[?(?:fatal|error|errors|failed|failure|fail|critical|panic|abort(?:ed)?|exception|traceback|unhandled|uncaught|cannot|can't|could not|couldn't|unable to|no such|not found|command not found|permission denied|access denied|invalid|unknown|undefined|unrecognized|unexpected|usage:|denied|refused)\b|` +
		`^(?:[\w$]+[.:]+)*[A-Z][\w$]*(?:Error|Exception|Failure|Exit|Interrupt)\b(?:[:\s(]|$)|^E\s{2,}\S|` +
		`: (?:command )?not found\.?$|: (?:cannot|can't|could not|couldn't|unable to|failed to|no module named|invalid|unknown|unrecognized|not a) |\b(?:is|are) (?:not (?:defined|set|installed|available|supported|recogni[sz]ed|allowed|permitted|valid|trusted|reachable|writable|empty|up to date|present)|missing|required|empty|invalid|unavailable|unreachable|denied|forbidden)\b|\bdoes not (?:exist|match|satisfy|support)\b|\b[Ff]ailed with\b|, but (?:your|the|it|this|got|was|is|found)\b|\b(?:could|can) ?not be [a-z]+\b|^You (?:are trying to|must|need to|have (?:to|not|added|deleted|changed)\b|cannot|can't|should not|do(?:n't| not) have)|: line \d+: +\d+ [A-Z]|: (?:unbound variable|parameter (?:null or )?not set|must be set|bad interpreter|syntax error)\b|No such file or directory|Permission denied\b|Connection refused|\b(?:ECONN\w+|ENOENT|EACCES|ETIMEDOUT|ENOTFOUND|EADDRINUSE|EPERM|ELIFECYCLE|ERESOLVE)\b|` +
		`\b(?:exit(?:ed)?|exit(?:ed)? with|returned|return|failed with)(?: a)?(?: non-zero)?(?: exit)?(?: code| status)?:? ?'?[1-9]\d*\b|non-zero (?:exit )?(?:code|status)|` +
		`\b[1-9]\d* (?:\w+ )?(?:errors?|failures?|failed|problems?|violations?|offen[cs]es?|issues?|vulnerabilities)\b|` +
		`\b(?:build|tests?|compilation|command|step|job|task|script|check|lint|validation|verification|upload|deploy(?:ment)?|push|install(?:ation)?|download|request|connection|authentication) (?:has |have )?(?:failed|aborted|errored|broke)\b|` +
		`\b(?:would|needs? to) (?:be )?reformat(?:ted)?\b|\bis not formatted\b|^(?:\S+/)*\S+\.\w{1,6}[:(]\d+(?:[:,]\d+)?[):]?:? ?\S|^\s+\d+:\d+\s+(?:error|✖)\s|^\s*at [\w$.<>]+ ?\(|^Traceback|^thread '.*panicked|^terminate called|^Caused by: |^\*\* \(|\bFatal error\b|^Execution halted| at \S+ line \d+\.$|✖|✘|❌|🚨|\bnpm (?:ERR!|error)|\bERR!|ERROR\b|FATAL\b|^make(?:\[\d+\])?: \*\*\*|^\s*\^+\s*$|^Your code has been rated|^Oh no!`)
	// doing is what a program says of its own progress, in a few words.
	doing = lazyregexp.New(`^(?i)(?:\W{0,3}(?:\[?\d+/\d+\]? |[\w-]+: )?)(?:[a-z]+ing|done|finished|completed|created|copied|uploaded|downloaded|installed|generated|wrote|saved|built|published|deployed|sent|successfully|starting)\b(?: ?\S+){0,6}$`)
	// self is how a program names itself before its message.
	self = lazyregexp.New(`^(?:\S*/)?([a-z][\w.+-]*)(?:\[\d+\])?: (.+)$`)
	// aside is what programs say behind their name that is no complaint.
	aside = lazyregexp.New(`(?i)^(?:[a-z]+(?:ing|ed)\b|\d|warn|note|notice|info|hint|help|debug|ok\b|success|nothing to be done|.* is up to date|version\b|using\b|\[|v\d)`)
	// harmless are lines that sound like complaints and are none.
	harmless = lazyregexp.New(`(?i)^\W{0,3}(?:warn(?:ing)?|notice|note|info|debug|hint|deprecat\w*)\b|\b(?:0|no|zero) (?:\w+ )?(?:errors?|failures?|failed|problems?|issues?|violations?|offen[cs]es?|vulnerabilities)\b|\b(?:errors?|failures?|failed)\s*[:=]\s*0\b|\b\d+ passed\b|\bfail(?:ed|ures?)? 0\b|\bretry(?:ing)?\b|\bwill retry\b|\(ignored\)|\bnpm (?:warn|notice)\b|\b0 fail\b|:(?:fail|error) 0\b|found 0 |ignoring\b|skipping\b|\bfail_?(?:fast|under)\b|errors?\.(?:log|txt|go|ts|js|py)\b`)
)

// statements are lines that say something of the whole run wherever they stand, at most a few.
type statements struct {
	gates       []testreport.Line // a threshold of coverage was missed
	interrupted []testreport.Line // tests did not run, or were killed
}

const maxStatements = 4

// breaks are how lines begin that say that a run of tests was broken off.
var breaks = [...]string{"Test", "test", "Timed out", "Exit: ", "panic: test", "Run ", "run ", "The test "}

// read looks at a line that may make a statement, which its first byte tells of most lines.
func (s *statements) read(l testreport.Line) {
	t := strings.TrimLeft(l.Text, " ")
	if len(t) < 6 || len(l.Text) > 300 || l.Passing {
		return
	}
	switch t[0] {
	case 'C', 'c', 'F', 'J', 'E', 'L', 'R', 'f', 'e', 'B', 'T', 'u', 0xe2:
		s.gate(l, t)
	case '[':
		if strings.HasPrefix(t, "[ERROR]") || strings.HasPrefix(t, "[WARNING]") {
			s.gate(l, t)
		}
	}
	switch t[0] {
	case '!', '*', '_':
	case 'n':
		if !strings.HasPrefix(t, "no tests ") {
			return
		}
	case '=':
		if !strings.Contains(t, " no tests ran in ") {
			return
		}
	case 'T', 't', 'E', 'p', 'R', 'r':
		if !hasPrefixOf(t, breaks[:]) {
			return
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if !strings.Contains(t, " test") {
			return
		}
	default:
		return
	}
	if len(s.interrupted) < maxStatements && (interrupted.MatchString(t) || ranOver.MatchString(t)) {
		s.interrupted = append(s.interrupted, testreport.Line{No: l.No, Text: keep(t)})
	}
}

func (s *statements) gate(l testreport.Line, t string) {
	if len(s.gates) < maxStatements && strings.Contains(t, "over") && gate.MatchString(t) && !notGate.MatchString(t) {
		s.gates = append(s.gates, testreport.Line{No: l.No, Text: keep(t)})
	}
}

// ending returns what the end of the log says against the tests that passed, false if nothing. It
// looks at the lines behind the last success only: before it, such lines can be the output of a
// test. A complaint behind which the log went on was tolerated.
func (r *recent) ending(complains func(testreport.Line) bool) (ending, bool) {
	const (
		working = 2  // lines behind a complaint that say that something else is done
		wentOn  = 12 // lines of any other output; what explains an error is shorter
	)
	lines := r.lines()
	for i := len(lines) - 1; i >= 0; i-- {
		if succeeds(lines[i]) {
			lines = lines[i+1:]
			break
		}
	}
	other, works := 0, 0
	var worst ending
	for i := len(lines) - 1; i >= 0 && other <= wentOn && works < working; i-- {
		l := lines[i]
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		e := ending{line: l.No, text: text}
		switch {
		case other <= 3 && (stopped.MatchString(text) || ranOver.MatchString(text)),
			full.MatchString(text), crash.MatchString(text) && !harmless.MatchString(text) && ownsRest(lines[i+1:]):
			e.final = true
			return e, true
		case worst.line == 0 && complains(l):
			if len(lines)-i > 1 && beyond(lines[i+1:]) {
				return ending{}, false
			}
			worst = e
		case worst.line == 0 && !follows(l):
			other++
			if doing.MatchString(text) {
				works++
			}
		}
	}
	return worst, worst.line > 0
}

// announced is what programs say before they do something that may fail; what cleans up behind
// tests is not among it.
var announced = lazyregexp.New(`^(?i)\W{0,4}(?:running|executing|starting|launching|testing|checking|waiting|building|compiling|installing|downloading|deploying|linting|verifying|validating|publishing|pushing|migrating|connecting)\b`)

// concluded is how a line ends that says what came of what it announces.
var concluded = lazyregexp.New(`(?i)\b(?:done|ok|okay|finished|completed?|success(?:ful(?:ly)?)?|passed|skipped|yes|no|up to date|\d ?m?s)\W*$|✔|✓`)

// announces returns the last line of the log if it says that something begins, of which nothing
// shows how it ended.
func (r *recent) announces() (testreport.Line, bool) {
	lines := r.lines()
	for i := len(lines) - 1; i >= 0; i-- {
		l := lines[i]
		if strings.TrimSpace(l.Text) == "" || l.Mark != "" {
			continue
		}
		return l, !l.Passing && len(l.Text) < 200 && announced.MatchString(l.Text) && !concluded.MatchString(l.Text)
	}
	return testreport.Line{}, false
}

// succeeds reports whether a line passes a test, or states that something succeeded.
func succeeds(l testreport.Line) bool {
	if l.Passing || l.Text == "" || l.Mark == "error" {
		return l.Passing
	}
	t := strings.TrimLeft(l.Text, " \t")
	if t == "" || len(t) > 300 {
		return false
	}
	if t[0] == '[' {
		t = strings.TrimPrefix(strings.TrimPrefix(t, "[INFO] "), "[info] ")
		l.Text = t
	}
	t = strings.ReplaceAll(t, "failed as expected", "expected")
	if saysWell(l) || testruns.CheckMark(t) {
		return true
	}
	return (containsOf(t, goodWords[:]) || hasPrefixOf(t, goodBegins[:])) && green.MatchString(t) && !red.MatchString(t)
}

// goodWords and goodBegins are what lines hold, or begin with, that green can match.
var (
	goodWords  = [...]string{"pass", "Pass", " 0 f"}
	goodBegins = [...]string{"Tests run: ", "DONE ", "#"}
)

// succeedsBehind reports whether one of the last lines, behind line no, succeeds.
func (r *recent) succeedsBehind(no int) bool {
	return slices.ContainsFunc(r.lines(), func(l testreport.Line) bool { return l.No > no && succeeds(l) })
}

var (
	green = lazyregexp.New(`(?i)\b[1-9]\d* (?:\w+ )?pass(?:ed|ing)\b|\b[1-9]\d* (?:tests?|specs?|examples?|runs?|doctests?)\b.*\b0 (?:failures?|failed)\b|\b100% (?:tests )?passed|\bpassed:? +[1-9]|^(?:#|ℹ) (?:pass +[1-9]|fail +0)|^Tests run: [1-9]\d*, Failures: 0, Errors: 0|^DONE [1-9]\d* tests?\b`)
	red   = lazyregexp.New(`(?i)\b[1-9]\d* (?:\w+ )?(?:failed|failures?|failing|errors?|errored|broken)\b|\b(?:failed|failures?|errors?):? +[1-9]`)
)

// achieved is what a script says, in a few words, of what it got done in the end.
var achieved = lazyregexp.New(`(?i)^\W{0,3}(?:all )?(?:ok|done|ready|success(?:ful(?:ly)?)?|(?:successfully )?(?:installed|downloaded|uploaded|published|deployed|released|pushed|migrated|built|compiled|generated|created|copied|saved|wrote|finished|completed))(?: [\w./:@‘’'"-]+){0,4}[.!]?$|^the (?:\w+ ){1,2}is (?:up|ready|running|reachable|available)[.!]?$|^\d{4}-\d\d-\d\d .* saved \[\d+(?:/\d+)?\]$`)

// achieves reports whether the log ends in a line behind line no that says what was achieved. What a
// failing script prints as it ends is rather what it stops or removes.
func (r *recent) achieves(no int) bool {
	lines := r.lines()
	for i := len(lines) - 1; i >= 0 && lines[i].No > no; i-- {
		if t := strings.TrimRight(lines[i].Text, " "); t != "" {
			return achieved.MatchString(t) && !harmed.MatchString(t)
		}
	}
	return false
}

// harmed are words by which a line says that not all is well.
var harmed = lazyregexp.New(`(?i)\b(?:with(?:out)? (?:errors?|failures?|warnings?)|fail\w*|errors?|not|exit(?:ed)?|aborted|cancell?ed|partially)\b`)

// beyond reports whether lines behind a complaint show that the log went on to something else: a
// command that a shell echoed.
func beyond(lines []testreport.Line) bool {
	for _, l := range lines {
		if strings.HasPrefix(l.Text, "+ ") || strings.HasPrefix(l.Text, "$ ") || l.Mark == "group" && strings.HasPrefix(l.Text, "Run ") {
			return true
		}
	}
	return false
}

// ownsRest reports whether the lines behind the first of a dump belong to it: indented frames, frames
// of goroutines, and the error at its end. Anything else means that the run went on.
func ownsRest(rest []testreport.Line) bool {
	other := 0
	for _, l := range rest {
		t := l.Text
		switch {
		case strings.TrimSpace(t) == "", follows(l), t[0] == '#' || t[0] == '=':
		case strings.HasPrefix(t, "goroutine "), strings.HasPrefix(t, "created by "), strings.HasSuffix(t, ")"), strings.HasPrefix(t, "note: "),
			strings.HasPrefix(t, "exit status "), complaint.MatchString(t), l.Mark == "error":
		default:
			if other++; other > 1 { // a message may have a second line
				return false
			}
		}
	}
	return true
}

// follows reports whether a line belongs to the one before it: indented, or a line of source.
func follows(l testreport.Line) bool {
	t := l.Text
	return t[0] == ' ' || t[0] == '\t' || t[0] == '|' || strings.HasPrefix(t, "at ") || strings.Trim(t, "-=^~_. ") == "" || strings.HasPrefix(t, "##")
}

// complains reports whether a line says that something failed.
func (c *Collector) complains(l testreport.Line) bool {
	if l.Passing {
		return false
	}
	if l.Mark == "error" {
		return true
	}
	text := strings.TrimSpace(l.Text)
	if len(text) > 2<<10 {
		text = text[:2<<10]
	}
	if harmless.MatchString(text) && !strings.HasPrefix(text, "ERROR") && !strings.HasPrefix(text, "Error") {
		return false
	}
	if complaint.MatchString(text) {
		return true
	}
	if g := self.FindStringSubmatch(text); g != nil && coursesteps.KnownProgram(g[1]) && !aside.MatchString(g[2]) {
		return true
	}
	m := c.rules.line(text)
	return m.rule != nil && m.rule.Role != RoleIgnore
}

// lines returns the lines, oldest first, as they stand in the ring.
func (r *recent) lines() []testreport.Line {
	n := min(r.n, endLines)
	out := make([]testreport.Line, 0, n)
	for i := r.n - n; i < r.n; i++ {
		out = append(out, r.ring[i%endLines])
	}
	return out
}
