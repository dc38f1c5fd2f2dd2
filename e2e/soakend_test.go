package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// deliveryRow is a delivery in the App's database.
type deliveryRow struct {
	state, err string
	attempts   int
}

func (r deliveryRow) final() bool { return contains([]string{"done", "gone", "dead_letter"}, r.state) }

// rows returns how the deliveries stood a moment ago. They are read beside the
// servers; a database that is away is asked again.
func (s *soak) rows() map[string]deliveryRow {
	s.look.Lock()
	defer s.look.Unlock()
	if time.Since(s.asked) < 100*time.Millisecond {
		return s.seen
	}
	_ = s.reading(func(db *database.DB) error {
		rows, err := db.Read.QueryContext(s.t.Context(), "SELECT id, state, error, attempts FROM delivery")
		if err != nil {
			return err
		}
		defer rows.Close()
		seen := map[string]deliveryRow{}
		for rows.Next() {
			var id string
			var r deliveryRow
			if err := rows.Scan(&id, &r.state, &r.err, &r.attempts); err != nil {
				return err
			}
			seen[id] = r
		}
		if err := rows.Err(); err != nil {
			return err
		}
		s.seen, s.asked = seen, time.Now()
		return nil
	})
	return s.seen
}

// reading gives read the servers' database.
func (s *soak) reading(read func(*database.DB) error) error {
	if s.db != nil {
		return read(s.db)
	}
	s.up.RLock()
	defer s.up.RUnlock()
	db, err := database.OpenFile(s.t.Context(), filepath.Join(s.apps[0].dir, "switchback.db"), false)
	if err != nil {
		return err
	}
	defer db.Close()
	return read(db)
}

// end is the state at the end: what people see, and what is recorded.
func (s *soak) end() string {
	s.t.Helper()
	var b strings.Builder
	pulls := s.told
	for _, p := range pulls {
		fmt.Fprintf(&b, "\n== %s#%d %v\n", p.r.Name, p.number, slices.Sorted(slices.Values(p.r.IssueLabels(s.t, p.number))))
		var comments []string
		for _, c := range p.r.Comments(s.t, p.number) {
			comments = append(comments, plainly("-- %s: %s\n", c.User.Login, c.Body))
		}
		slices.Sort(comments) // those of two checkpoints come in either order
		b.WriteString(strings.Join(comments, ""))
		for i, sha := range p.shas {
			var checks []string
			for _, c := range p.r.CheckRuns(s.t, sha) {
				checks = append(checks, fmt.Sprintf("-- check %s of commit %d: %s %s, %s\n", c.Name, i+1, c.Status, c.Conclusion, c.Output.Title))
			}
			slices.Sort(checks)
			b.WriteString(strings.Join(checks, ""))
		}
	}
	for _, r := range s.repos {
		var issues []string
		for _, i := range r.Issues(s.t) {
			if slices.ContainsFunc(pulls, func(p *pull) bool { return p.r == r && p.number == i.Number }) {
				continue
			}
			text := plainly("-- issue %s (%s %s) %v %s\n%s\n", i.Title, i.State, i.StateReason, slices.Sorted(slices.Values(names(i.Labels))), i.User.Login, i.Body)
			for _, c := range r.Comments(s.t, i.Number) {
				text += plainly("---- %s: %s\n", c.User.Login, c.Body)
			}
			issues = append(issues, text)
		}
		slices.Sort(issues)
		fmt.Fprintf(&b, "\n== issues of %s\n%s", r.Name, strings.Join(issues, ""))
	}
	if err := s.reading(func(db *database.DB) error { return s.recorded(&b, db) }); err != nil {
		s.t.Fatal(err)
	}
	return plainly("%s", b.String())
}

// plainly is fmt.Sprintf without what is another each time.
func plainly(format string, args ...any) string {
	return soakVaries.ReplaceAllString(fmt.Sprintf(format, args...), "…")
}

// opener names an escalation of the register by the case that it was opened for.
func opener(record any) string {
	m, _ := record.(map[string]any)
	return fmt.Sprint(m["id"])
}

// recorded is what the ledger folds to.
func (s *soak) recorded(b *strings.Builder, db *database.DB) error {
	l := sqlledger.New(db)
	keys, err := l.Keys(s.t.Context())
	if err != nil {
		return err
	}
	for _, key := range keys {
		events, _, err := l.Load(s.t.Context(), key)
		if err != nil {
			return err
		}
		var folded any
		if strings.HasSuffix(key, "!"+routing.StreamIncidents) {
			continue // which failures were seen with one cause depends on the time, and none opens an incident here
		}
		if strings.HasSuffix(key, "!"+routing.StreamEscalations) {
			folded, err = escalation.Fold(events)
		} else {
			folded, err = routing.Fold(key, events)
		}
		if err != nil {
			return err
		}
		data, err := json.Marshal(folded)
		if err != nil {
			return err
		}
		var doc any
		if err := json.Unmarshal(data, &doc); err != nil {
			return err
		}
		data, err = json.MarshalIndent(lasting(doc), "", " ")
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n== %s\n%s\n", key, data)
	}
	return nil
}

// fleeting are the fields that say when and by whom, not what.
var fleeting = []string{"version", "Version", "lease", "Lease", "opened", "updated", "at", "started_at", "opened_at", "created_at", "updated_at", "resolved_at",
	"closed_at", "recalled_at", "left_at", "dismissed_at", "took", "number", "url", "run_url"}

// lasting takes out of a document what is another each time.
func lasting(doc any) any {
	switch v := doc.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(k string, _ any) bool { return slices.Contains(fleeting, k) })
		for k := range v {
			v[k] = lasting(v[k])
			if inner, ok := v[k].(map[string]any); ok && k == "done" { // of what is outside, that it is there
				v[k] = slices.Sorted(maps.Keys(inner))
			} else if ok && k == "runs" {
				v[k] = len(inner)
			}
			if list, ok := v[k].([]any); ok && k == "Records" { // of pull requests that do not wait for each other
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(opener(a), opener(b)) })
			}
		}
	case []any:
		for i := range v {
			v[i] = lasting(v[i])
		}
	}
	return doc
}

var soakVaries = regexp.MustCompile(`[0-9a-f]{7,}|reply/\d+|\d{4}-\d\d-\d\d[T ][0-9:.]+Z?( UTC)?|127\.0\.0\.1:\d+|/issues/\d+|comment/\d+|pullrequestreview-\d+|"id": "\d+"|/runs/\d+|issuecomment-\d+|run \d+|#\d+`)

// diff are the lines that only want or only got has, each with the heading and
// the line before it: what moved only is not shown.
func diff(want, got string) string {
	count := func(text string) map[string]int {
		out := map[string]int{}
		for _, line := range strings.Split(text, "\n") {
			out[line]++
		}
		return out
	}
	only := func(mark, text string, other map[string]int) (out string) {
		heading, shown, before := "", "", ""
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "== ") {
				heading = line
			}
			if other[line]--; other[line] < 0 {
				if shown != heading {
					out += heading + "\n"
					shown = heading
				}
				out += fmt.Sprintf("    %s\n%s %s\n", before, mark, line)
			}
			before = line
		}
		return out
	}
	out := only("- want", want, count(got)) + only("+ got ", got, count(want))
	if out == "" {
		return "the same lines in another order:\n" + differing(want, got)
	}
	return out
}
