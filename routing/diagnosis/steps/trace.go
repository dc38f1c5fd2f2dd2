package steps

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

var (
	buildkiteFold = lazyregexp.New(`^~~~ (?::[\w-]+:|[A-Z])`)
	dockerStep    = lazyregexp.New(`^#(\d+) \[[^\]]*\d+/\d+\] (?:RUN (.*)|\w+ )`)
	dockerEnd     = lazyregexp.New(`^#(\d+) (DONE|ERROR:|CANCELED|CACHED)`)
	exitOfRun     = lazyregexp.New(`exit code: (\d+)`)
	jenkinsShell  = lazyregexp.New(`^\[[^\]]+\] \$ (\S.*)$`)
	taskEnd       = lazyregexp.New(`^\[taskcluster [^\]]*\] (?:Successful|Unsuccessful) task run with exit code: (-?\d+)`)
	mavenGoal     = lazyregexp.New(`^\[INFO\] -{3,} ([\w.-]+(?::[\w.-]+){1,4}) (?:\([^)]*\) )?@ `)
	mavenFailed   = lazyregexp.New(`^\[ERROR\] Failed to execute goal (?:[\w.-]+:)?([\w.-]+:[\w.$-]+:[\w-]+)\b`)
)

// trace reads commands that a shell or service echoes, and folds.
func (m *marks) trace(r *Reader, t string, no int) {
	switch t[0] {
	case '+':
		if command, ok := strings.CutPrefix(strings.TrimLeft(t, "+"), " "); ok && knownCommand(command) {
			r.begin(Command, "", command, no)
		} else if m.buildkite && strings.HasPrefix(t, "+++ ") {
			r.begin(Step, t[4:], "", no)
		}
	case '$':
		if t[1] == ' ' && (knownCommand(t[2:]) || looksLikeCommand(t[2:])) {
			r.begin(Command, "", t[2:], no)
		}
	case '~', '-', '^':
		switch {
		case t[0] == '~' && buildkiteFold.MatchString(t):
			m.buildkite = true
			r.begin(Step, t[4:], "", no)
		case m.buildkite && strings.HasPrefix(t, "--- ") && !strings.HasPrefix(t, "--- FAIL") && !strings.HasPrefix(t, "--- PASS") && !strings.HasPrefix(t, "--- SKIP"):
			r.begin(Step, t[4:], "", no)
		}
	case '#':
		docker(r, t, no)
	case '[':
		bracketed(r, t, no)
	}
}

// looksLikeCommand reports whether t can be a command although nobody knows its name: words in
// lower case that end in no punctuation.
func looksLikeCommand(t string) bool {
	c := t[0]
	return (c >= 'a' && c <= 'z' || c == '.' || c == '/') && !strings.HasSuffix(t, ".") && !strings.HasSuffix(t, ":")
}

// docker reads the steps of BuildKit and the marks of newer runners of GitHub.
func docker(r *Reader, t string, no int) {
	if rest, ok := strings.CutPrefix(t, "##[start-action display="); ok {
		name, _, _ := strings.Cut(rest, ";")
		settleStep(r, no)
		r.begin(Step, name, strings.TrimPrefix(name, "Run "), no).key = "action"
		return
	}
	if strings.HasPrefix(t, "##[end-action ") {
		if n := r.find(Step); n != nil && n.key == "action" {
			s := Passed
			switch {
			case strings.Contains(t, "conclusion=failure"):
				s = Failed
			case strings.Contains(t, "outcome=failure"):
				s = Tolerated
			case strings.Contains(t, "conclusion=cancelled"):
				s = Cancelled
			}
			r.state(n, s, 0, no)
			r.end(n, no)
		}
		return
	}
	if g := dockerStep.FindStringSubmatch(t); g != nil && g[2] != "" {
		r.begin(Target, "#"+g[1], g[2], no).key = "#" + g[1]
		return
	}
	if g := dockerEnd.FindStringSubmatch(t); g != nil {
		for _, n := range slices.Backward(r.nodes[max(0, len(r.nodes)-40):]) {
			if n.key != "#"+g[1] {
				continue
			}
			switch g[2] {
			case "ERROR:":
				code := 0
				if c := exitOfRun.FindStringSubmatch(t); c != nil {
					code = number(c[1])
				}
				r.state(n, Failed, code, no)
			case "DONE", "CACHED":
				r.state(n, Passed, 0, no)
			case "CANCELED":
				n.Status = Unstated // another step failed
			}
			n.Last = max(n.Last, no)
			return
		}
	}
}

// bracketed reads lines in brackets: stages of Jenkins, goals of Maven, steps of act.
func bracketed(r *Reader, t string, no int) {
	switch {
	case strings.HasPrefix(t, "[Pipeline] "):
		jenkinsPipeline(r, t[len("[Pipeline] "):], no)
	case strings.HasPrefix(t, "[command]"):
		r.begin(Command, "", t[len("[command]"):], no)
	case strings.HasPrefix(t, "[INFO] "):
		if t[7:min(len(t), 8)] != "-" && t[7:min(len(t), 8)] != "B" {
			return
		}
		if g := mavenGoal.FindStringSubmatch(t); g != nil {
			r.begin(Target, g[1], "", no).Role = roleOfGoal(g[1])
		} else if rest := t[len("[INFO] "):]; strings.HasPrefix(rest, "BUILD ") {
			buildResult(r, rest, no)
		}
	case strings.HasPrefix(t, "[taskcluster"):
		taskcluster(r, t, no)
	case strings.HasPrefix(t, "[ERROR] Failed to execute goal "):
		if g := mavenFailed.FindStringSubmatch(t); g != nil {
			goalFailed(r, g[1], no)
		}
	default:
		end := strings.IndexByte(t, ']') + 1
		if end == 0 || end == len(t) || t[end] != ' ' {
			return
		}
		rest := strings.TrimLeft(t[end:], " ")
		switch {
		case rest == "":
		case rest[0] == '$':
			if g := jenkinsShell.FindStringSubmatch(t); g != nil {
				r.begin(Command, "", g[1], no)
			}
		case (rest[0] == 0xe2 || rest[0] == 0xf0) && strings.Contains(t[:end], "/"):
			service(r, rest, no)
		}
	}
}

// taskcluster reads how a task of Taskcluster ended.
func taskcluster(r *Reader, t string, no int) {
	if g := taskEnd.FindStringSubmatch(t); g != nil {
		r.state(r.job(), ofCode(number(g[1])), number(g[1]), no)
	} else if strings.Contains(t, "Task aborted - max run time exceeded") || strings.Contains(t, "Task timeout after") {
		r.state(r.job(), TimedOut, 0, no)
	} else if strings.HasPrefix(t, "[taskcluster:error] ") && (strings.Contains(t, "Task was canceled") || strings.Contains(t, "Aborting task")) {
		r.state(r.job(), Cancelled, 0, no)
	}
}

// goals are those of Maven's plugins whose names do not tell their role.
var goals = map[string]Role{
	"surefire": Test, "failsafe": Test, "compiler": Compile, "kotlin": Compile, "scala": Compile, "resources": Compile,
	"checkstyle": Lint, "spotbugs": Lint, "pmd": Lint, "spotless": Lint, "license": Lint, "enforcer": Lint, "jacoco": Lint,
	"rat": Lint, "animal-sniffer": Lint, "jar": Package, "war": Package, "shade": Package, "assembly": Package, "source": Package,
	"javadoc": Package, "install": Package, "deploy": Deploy, "dependency": Fetch,
}

// roleOfGoal returns the role of a goal: maven-surefire-plugin:2.22.2:test.
func roleOfGoal(goal string) Role {
	plugin, _, _ := strings.Cut(goal, ":")
	plugin = strings.TrimSuffix(strings.TrimPrefix(plugin, "maven-"), "-plugin")
	plugin = strings.TrimSuffix(plugin, "-maven")
	if r, ok := goals[plugin]; ok {
		return r
	}
	return stronger(roleOfName(plugin), roleOfName(goal[strings.LastIndexByte(goal, ':')+1:]))
}

// goalFailed states that a goal failed, which Maven says at the very end.
func goalFailed(r *Reader, goal string, no int) {
	parts := strings.Split(goal, ":")
	for _, n := range slices.Backward(r.nodes) {
		if n.Kind == Target && strings.HasPrefix(strings.TrimSuffix(strings.TrimPrefix(n.Name, "maven-"), "-plugin"), short(parts[0])) && strings.HasSuffix(n.Name, ":"+parts[len(parts)-1]) {
			r.state(n, Failed, 0, no)
			return
		}
	}
	n := r.begin(Target, goal, "", no)
	n.Role = roleOfGoal(goal)
	r.state(n, Failed, 0, no)
}

func short(plugin string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(plugin, "maven-"), "-plugin"), "-maven")
}

// jenkinsPipeline reads the marks of a Jenkins pipeline.
func jenkinsPipeline(r *Reader, t string, no int) {
	switch {
	case strings.HasPrefix(t, "{ ("):
		r.begin(Step, strings.TrimSuffix(t[len("{ ("):], ")"), "", no).key = "stage"
	case t == "// stage":
		if n := r.find(Step); n != nil && n.key == "stage" {
			r.end(n, no)
		}
	case t == "End of Pipeline":
		r.close(no, func(n *node) bool { return true })
	}
}
