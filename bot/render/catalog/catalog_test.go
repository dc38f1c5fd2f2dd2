package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
	_ "github.com/switchback-ci/switchback/routing/plan/plancommands"
	"github.com/switchback-ci/switchback/routing/stats"
	"github.com/switchback-ci/switchback/routing/survey"
)

var hole = regexp.MustCompile(`\{([a-z]+)\}`)

func holes(text string) []string {
	names := map[string]bool{}
	for _, m := range hole.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// TestLanguagesAgree compares the catalogues: the same ids, with the same placeholders. The English
// of a report's sentences and of refusals is where they are made.
func TestLanguagesAgree(t *testing.T) {
	t.Parallel()
	english := maps.Clone(catalog.Texts(catalog.English))
	for _, id := range escalation.SentenceIDs() {
		english["report."+id] = escalation.English(id)
	}
	for id, text := range refusals(t) {
		english["refused."+id] = text
	}
	for _, l := range catalog.Languages() {
		texts := catalog.Texts(l)
		for id, text := range texts {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s is empty", l, id)
			}
			if english[id] == "" {
				t.Errorf("%s: there is no English %s", l, id)
			}
		}
		for id, en := range english {
			text, ok := texts[id]
			switch {
			case !ok && l == catalog.English && (strings.HasPrefix(id, "report.") || strings.HasPrefix(id, "refused.")):
			case !ok:
				t.Errorf("%s: there is no %s", l, id)
			case !slices.Equal(holes(text), holes(en)):
				t.Errorf("%s: %s has %v, and English has %v", l, id, holes(text), holes(en))
			}
		}
	}
}

// refusals collects what people are refused with, id → English text, from the calls that refuse.
func refusals(t *testing.T) map[string]string {
	out := map[string]string{}
	for _, dir := range []string{"../../../routing", "../../../bot", "../../../cmd"} {
		files(t, dir, func(path string, f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) < 2 || !slices.Contains([]string{"Refuse", "unsure"}, called(call)) {
					return true
				}
				id, text := literal(call.Args[0]), literal(call.Args[1])
				if id == "" {
					return true
				}
				if old, ok := out[id]; ok && old != text {
					t.Errorf("%s: %q has two texts, %q and %q", path, id, old, text)
				}
				out[id] = text
				var given []string
				for i := 2; i < len(call.Args); i += 2 {
					given = append(given, literal(call.Args[i]))
				}
				for _, name := range holes(text) {
					if !slices.Contains(given, name) {
						t.Errorf("%s: %q does not fill {%s}", path, id, name)
					}
				}
				return true
			})
		})
	}
	if len(out) < 20 {
		t.Errorf("only %d refusals are found", len(out))
	}
	return out
}

// TestEveryTextIsUsed compares the catalogue with the ids in code and templates. An id that is put
// together at run time is listed by the values it is put together from.
func TestEveryTextIsUsed(t *testing.T) {
	t.Parallel()
	used, literals := map[string]string{}, map[string]bool{}
	dynamic := map[string]bool{}
	scan := func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				literals[literal(n)] = true
			case *ast.CallExpr:
				name := called(n)
				if len(n.Args) == 0 || !slices.Contains([]string{"Say", "Plain", "Count", "say"}, name) {
					return true
				}
				if prefix, ok := n.Args[0].(*ast.BinaryExpr); ok {
					dynamic[literal(prefix.X)] = true
				}
				if id := literal(n.Args[0]); id != "" {
					for _, id := range forms(id, name == "Count") {
						used[id] = path
					}
				}
			}
			return true
		})
	}
	files(t, "..", scan)
	files(t, "../../notify", scan)
	files(t, "../../../routing", func(_ string, f *ast.File) { // the tables of commands and boxes name their texts
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(literal(lit), "box.") {
				literals[literal(lit)] = true
			}
			return true
		})
	})
	call := regexp.MustCompile(`\b(say|count|head)((?:\s+"[^"]+")+)`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".tmpl") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			ids := strings.Fields(strings.ReplaceAll(m[2], `"`, " "))
			if m[1] != "head" {
				ids = ids[:1] // what follows names a placeholder
			}
			for _, id := range ids {
				for _, id := range forms(id, m[1] == "count") {
					used[id] = path
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for prefix, values := range put() {
		for _, v := range values {
			used[prefix+v] = "the values of " + prefix
		}
		delete(dynamic, prefix)
	}
	for prefix := range dynamic {
		if prefix != "" {
			t.Errorf("%q is put together with values that put does not list", prefix)
		}
	}
	texts := catalog.Texts(catalog.English)
	for id, where := range used {
		if _, ok := texts[id]; !ok {
			t.Errorf("%s: there is no text %q", where, id)
		}
	}
	for id := range texts {
		if used[id] == "" && !literals[id] && !literals[strings.TrimSuffix(strings.TrimSuffix(id, ".one"), ".many")] {
			t.Errorf("nothing uses the text %q", id)
		}
	}
}

func forms(id string, count bool) []string {
	if count {
		return []string{id + ".one", id + ".many"}
	}
	return []string{id}
}

// put lists the values of ids that are put together at run time, by their prefix.
func put() map[string][]string {
	out := map[string][]string{
		"handoff.acknowledged.": {"run", "reaction", "comment", "push", "command"},
		"status.":               {"pending", "in_progress", "completed", "escalated", "paused", "skipped", "waiting", "wontfix"},
		"list.":                 {"fixed", "still", "new", "unseen", "unsure", "flaky"},
		"since.":                {"fixed", "still", "new", "unseen", "unsure", "flaky"},
		"next.":                 {"PASS", "RETRY", "NONE", "PRE_EXISTING", "RERUN", "INCIDENT", "INTERACTION", "GROUP_FAILED"},
		"reply.lost.":           {"gone", "moved"},
		"refused.":              nil,
		"report.":               nil,
		"misread.":              {"command", "unknown", "attempts", "phase", "class", "test", "type", "text"},
		"act.":                  {"resume", "pause", "reset", "skip", "handoff", "phase", "rerun", "quarantine", "wont-fix", "wrong", "accept", "ack", "extend.one", "extend.many"},
		"port.":                 {"resume", "reset", "skip", "wont-fix"},
		"sev.":                  {"low", "medium", "high", "critical"},
		"phase.":                strs(routing.Phases()),
		"green.":                {"did_not_run", "skipped", "workflow", "test_config", "threshold", "skip_marker", "test_removed", "assertion", "why", "accepted"},
		"class.":                strs(routing.Classes()),
		"plan.":                 strs(plan.Standings),
		"request.head.":         strs(feedback.Types()),
		"survey.":               strs(survey.Choices),
		"survey.refused.":       {string(survey.NoLevel), string(survey.SeveralLevels), string(survey.NoSuggestion), string(survey.NotSubmitted)},
		"quarantine.box.":       {"quarantine", "fix", "release"},
		"quarantine.state.":     {"proposed.one", "proposed.many", "quarantined", "expired", "released"},
		"quarantine.note.":      {"began", "fixing", "fixing.nofile", "reminder", "expired", "passing", "released"},
		"kind.":                 {"PASS", "RETRY", "NONE", "PRE_EXISTING", "RERUN", "INCIDENT", "INTERACTION", "GROUP_FAILED"},
		"stopped.":              nil,
		"why.":                  nil,
		"notify.incident.":      {"opened", "reopened", "resolved", "dismissed"},
		"notify.quarantine.":    {"quarantined", "ends_soon", "expired"},
		"incident.kind.":        {"environment", "base"},
		"incident.how.":         {"environment", "base"},
		"incident.state.":       {"open", "testing", "resuming", "over", "dismissed"},
		"incident.member.":      {"passed", "own", "closed", "other"},
		"incident.note.":        {"resolved", "resolved.run", "reopened", "reopened.run", "dismissed", "finished"},
	}
	for _, k := range stats.Escalating() {
		for _, prefix := range []string{"kind.", "stopped.", "why."} {
			out[prefix] = append(out[prefix], string(k))
		}
	}
	for _, s := range answers.Table() {
		out["help."] = append(out["help."], strings.TrimPrefix(s.HelpID(), "help."))
	}
	return out
}

func strs[S ~string](all []S) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = string(s)
	}
	return out
}

// files parses the Go files below a folder that are not tests.
func files(t *testing.T, dir string, see func(path string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			see(path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// literal is the value of a string literal, "" of anything else.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}
