package steps

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

var (
	packageScript = lazyregexp.New(`^> (@?[\w./-]+@\S+ [\w:.-]+)(?: \S+)?$`)
	makeFailed    = lazyregexp.New(`^(?:\S*[/\\])?\w*make(?:\.exe)?(?:\[\d+\])?: \*\*\* \[(?:[^\]]*:\d+: )?([^\]:]+)\] (?:Error (\d+)|(\w[\w ]*))(.*)$`)
	makeTolerated = lazyregexp.New(`^(?:\S*[/\\])?\w*make(?:\.exe)?(?:\[\d+\])?: \[(?:[^\]]*:\d+: )?([^\]:]+)\] Error (\d+) \(ignored\)`)
	gradleTask    = lazyregexp.New(`^> (?:Task|Configure project) (:?\S+)(?: (FAILED|UP-TO-DATE|NO-SOURCE|SKIPPED|FROM-CACHE))?$`)
	recipeFailed  = lazyregexp.New("^error: [Rr]ecipe [`']([\\w:-]+)['`] (?:failed|was terminated).*?(?:exit code (\\d+)|$)")
	noxSession    = lazyregexp.New(`^nox > Running session (\S+)`)
	noxFailed     = lazyregexp.New(`^nox > (?:Command .* failed with exit code (\d+)|Session (\S+) (failed|was successful|was skipped|aborted))`)
	npmCode       = lazyregexp.New(`^npm (?:ERR!|error) (?:code ELIFECYCLE|errno (\d+)|Lifecycle script .* failed|Test failed)`)
	yarnFailed    = lazyregexp.New(`^error Command failed with exit code (\d+)`)
	pnpmFailed    = lazyregexp.New(`^\W*(?:ERR_PNPM_\w+|ELIFECYCLE)\W.*(?:[Cc]ommand failed(?: with exit code (\d+))?|Test failed)`)
	toxCommand    = lazyregexp.New(`^([\w.,-]+)(?: run-test)?: commands(?:_pre|_post)?\[\d+\](?: \||>) (.*)$`)
	toxExit       = lazyregexp.New(`^([\w.,-]+): exit (-?\d+) \(`)
	toxResult     = lazyregexp.New(`^\s{2,}([\w.,-]+): (OK|FAIL|SKIP)\b(?: code (\d+))?`)
)

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// tool reads what build tools and package managers print.
func (m *marks) tool(r *Reader, t string, no int) {
	switch t[0] {
	case '>':
		if !strings.HasPrefix(t, "> Task ") && !strings.HasPrefix(t, "> Configure ") {
			if strings.IndexByte(t, '@') < 0 {
				return
			}
			if g := packageScript.FindStringSubmatch(t); g != nil {
				m.script, m.scriptAt = strings.Clone(g[1]), no
			}
		} else if g := gradleTask.FindStringSubmatch(t); g != nil {
			n := r.begin(Target, g[1], "", no)
			switch g[2] {
			case "FAILED":
				r.state(n, Failed, 0, no)
			case "":
			default:
				r.state(n, Passed, 0, no)
			}
		}
	case 'm', '/':
		makeLine(r, t, no)
	case 'n':
		switch {
		case strings.HasPrefix(t, "nox > "):
			noxLine(r, t, no)
		case strings.HasPrefix(t, "npm "):
			if g := npmCode.FindStringSubmatch(t); g != nil {
				scriptFailed(r, number(g[1]), no)
			}
		case strings.HasPrefix(t, "ninja: build stopped"):
			failHere(r, 1, no)
		}
	case 'e':
		if !strings.HasPrefix(t, "error") {
			return
		}
		if g := yarnFailed.FindStringSubmatch(t); g != nil {
			scriptFailed(r, number(g[1]), no)
		} else if g := recipeFailed.FindStringSubmatch(t); g != nil {
			n := targetFailed(r, []string{g[1]}, no)
			n.ExitCode = number(g[2])
		}
	case ' ':
		switch {
		case t[1] != ' ' && (strings.Contains(t, "ELIFECYCLE") || strings.Contains(t, "ERR_PNPM")):
			pnpmLine(r, t, no)
		case len(t) < 120 && t[1] == ' ' && t[2] != ' ' && (strings.Contains(t, ": OK") || strings.Contains(t, ": FAIL") || strings.Contains(t, ": SKIP")):
			if g := toxResult.FindStringSubmatch(t); g != nil {
				toxEnvironment(r, g[1], g[2], number(g[3]), no)
			}
		}
	}
}

func pnpmLine(r *Reader, t string, no int) {
	if g := pnpmFailed.FindStringSubmatch(t); g != nil {
		scriptFailed(r, number(g[1]), no)
	}
}

// makeLine reads the errors of make, which name the target. Where make does not say that it starts one,
// a target begins behind the last unit in hand.
func makeLine(r *Reader, t string, no int) {
	if i := strings.IndexByte(t, ':'); i < 4 || !strings.Contains(t[:i], "make") {
		return
	}
	if g := makeTolerated.FindStringSubmatch(t); g != nil {
		n := targetFailed(r, []string{g[1]}, no)
		n.Status, n.ExitCode = Tolerated, number(g[2])
	} else if g := makeFailed.FindStringSubmatch(t); g != nil {
		if old := r.cur(); old.Kind == Target && old.Status == Failed && old.Marker >= no-3 {
			return // make that ran this make
		}
		n := targetFailed(r, []string{g[1]}, no)
		n.ExitCode = number(g[2])
	}
}

// targetFailed states that a target failed that may not have been seen to begin.
func targetFailed(r *Reader, names []string, no int) *node {
	name := ""
	if len(names) > 0 {
		name = strings.TrimSuffix(names[0], ",")
	}
	for _, n := range slices.Backward(r.nodes[max(0, len(r.nodes)-200):]) {
		if n.Kind == Target && n.Name == name {
			r.state(n, Failed, 0, no)
			return n
		}
	}
	from := r.cur().First
	for _, n := range slices.Backward(r.nodes) {
		if n.parent == r.cur() {
			from = n.Last + 1
			break
		}
	}
	first := max(from, min(no, no-200))
	n := r.begin(Target, name, "", no)
	n.First = min(first, no)
	if last := r.nodes[max(0, len(r.nodes)-2)]; last.First > n.First {
		n.First = last.First // the tree stays in the order of first lines
	}
	r.state(n, Failed, 0, no)
	return n
}

// scriptFailed states that the script of a package manager failed.
func scriptFailed(r *Reader, code, no int) {
	n := r.find(Target)
	if n == nil {
		if n = r.find(Command); n == nil {
			return
		}
	}
	if n.Status == Failed && code == 0 {
		return
	}
	r.state(n, Failed, code, no)
}

// failHere states that the innermost target or command failed.
func failHere(r *Reader, code, no int) {
	if n := r.cur(); (n.Kind == Target || n.Kind == Command) && n.Status == Unstated {
		r.state(n, Failed, code, no)
	}
}

// buildResult reads BUILD SUCCESS and BUILD FAILED of Maven, Gradle and Ant.
func buildResult(r *Reader, t string, no int) {
	n := r.find(Command)
	switch {
	case strings.HasPrefix(t, "BUILD SUCCESS"):
		if n != nil {
			r.state(n, Passed, 0, no)
		}
		r.close(no+1, func(n *node) bool {
			if n.Kind == Target && n.Status == Unstated {
				r.state(n, Passed, 0, no)
			}
			return n.Kind == Target
		})
	case strings.HasPrefix(t, "BUILD FAIL"):
		if n != nil {
			r.state(n, Failed, 0, no)
		}
		failHere(r, 0, no)
	}
}

func noxLine(r *Reader, t string, no int) {
	if g := noxSession.FindStringSubmatch(t); g != nil {
		r.begin(Target, g[1], "", no).key = "nox"
		return
	}
	g := noxFailed.FindStringSubmatch(t)
	if g == nil {
		rest := t[len("nox > "):]
		if n := r.find(Target); n != nil && n.key == "nox" && knownCommand(rest) && len(n.Command)+len(rest) < maxCommand {
			n.Command = strings.TrimPrefix(n.Command+"\n"+rest, "\n")
			n.Role = stronger(RoleOf(n.Command), roleOfName(n.Name))
		}
		return
	}
	n := r.find(Target)
	if n == nil || n.key != "nox" {
		return
	}
	switch {
	case g[1] != "":
		r.state(n, Failed, number(g[1]), no)
	case g[3] == "was successful":
		r.state(n, Passed, 0, no)
	case g[3] == "failed" && n.Status != Failed:
		r.state(n, Failed, 0, no)
	}
}

// toxLine reads the commands of tox and their ends.
func toxLine(r *Reader, t string, no int) {
	i := strings.IndexByte(t[:min(len(t), 48)], ':')
	if i < 0 {
		if i = strings.Index(t[:min(len(t), 60)], "run-test: "); i < 0 {
			return
		}
	}
	switch rest := t[i:]; {
	case strings.HasPrefix(rest, ": commands"):
		if g := toxCommand.FindStringSubmatch(t); g != nil {
			r.begin(Target, g[1], g[2], no)
		}
	case strings.HasPrefix(rest, ": exit "):
		if g := toxExit.FindStringSubmatch(t); g != nil {
			if n := r.find(Target); n != nil && n.Name == g[1] {
				r.state(n, ofCode(number(g[2])), number(g[2]), no)
			}
		}
	}
}

// toxEnvironment reads the summary of tox, which states every environment once more.
func toxEnvironment(r *Reader, name, result string, code, no int) {
	for _, n := range slices.Backward(r.nodes) {
		if n.Kind != Target || n.Name != name || n.Status != Unstated {
			continue
		}
		switch result {
		case "OK":
			r.state(n, Passed, 0, no)
		case "FAIL":
			r.state(n, Failed, code, no)
		}
		return
	}
}

// dockerRun reads a RUN of the classic builder.
func dockerRun(r *Reader, t string, no int) {
	_, command, _ := strings.Cut(t, " : RUN ")
	r.begin(Target, "", command, no)
}
