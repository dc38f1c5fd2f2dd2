package incidentview

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/rendertest"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// held is an incident in which every text of a run or a person is a, b or c.
func held(kind routing.IncidentKind, standing incident.Standing, a, b, c string) incident.Incident {
	run := routing.Run{ID: "r" + a, Attempt: 2, URL: "https://evil.example/" + b}
	i := incident.Incident{
		Causes:   []incident.Cause{{Kind: kind, Signal: "s" + a, Service: b, Checkpoint: "c" + c, Suite: a, Name: "n" + b}, {Kind: kind, Signal: c, Checkpoint: a, Name: c}},
		Standing: standing, OpenedAt: noon, ResolvedAt: noon, By: "b" + c, Red: []routing.Run{run},
	}
	for n, left := range []incident.How{"", "", incident.LeftOwn} {
		i.Members = append(i.Members, incident.Member{Case: fmt.Sprint("acme/shop#", n+1), Checkpoint: "p" + c, Author: a, Run: run, Left: left})
	}
	i.Members[1].Restarted = noon
	i.Members = append(i.Members, incident.Member{Case: "acme/shop@x" + a, Checkpoint: b, Run: routing.Run{ID: c}}, incident.Member{Case: "acme/shop#1x" + b, Checkpoint: "y" + a, Run: run})
	return i
}

func pagesOf(a, b, c string, l catalog.Language) []rendertest.Page {
	const most = 600
	a, b, c = a[:min(most, len(a))], b[:min(most, len(b))], c[:min(most, len(c))]
	o := render.Options{Mention: "@maintainer", Language: l}
	var out []rendertest.Page
	for _, kind := range []routing.IncidentKind{routing.IncidentEnvironment, routing.IncidentBase} {
		for _, s := range []incident.Standing{incident.Open, incident.Testing, incident.Dismissed} {
			out = append(out, rendertest.Page{Name: fmt.Sprint(l, " ", kind, " ", s), Body: Body(held(kind, s, a, b, c), o)})
		}
	}
	for _, k := range []incident.NoteKind{incident.NoteResolved, incident.NoteReopened, incident.NoteDismissed, incident.NoteFinished} {
		out = append(out, rendertest.Page{Name: fmt.Sprint(l, " ", k), Body: Note(incident.Note{Kind: k, By: "b" + a + b + c}, o)})
	}
	return out
}

func TestIncidentPagesOnGitHub(t *testing.T) {
	t.Parallel()
	for i, s := range rendertest.Seeds() {
		s = s[:min(2000, len(s))] // TestHugeIncidentS5_78 has long ones
		t.Run(fmt.Sprintf("S6-1 no text of a run is live in the issue of an incident/%d", i), func(t *testing.T) {
			t.Parallel()
			rendertest.Compare(t, "https://github.com", "@maintainer", func(f func(string) string) []rendertest.Page {
				a, b, c := f(s), f(s+"\n"+s), f("t\n"+s)
				return append(pagesOf(a, b, c, catalog.English), pagesOf(a, b, c, catalog.Korean)...)
			})
		})
	}
}

// A thousand members with long names, and hundreds of causes of a megabyte each, stay within what
// GitHub takes.
func TestHugeIncidentS5_78(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"|", "`", "가", "@octocat "} {
		huge := strings.Repeat(letter, 1<<20/len(letter))
		i := held(routing.IncidentBase, incident.Open, huge[:3000*len(letter)], huge[:300*len(letter)], huge)
		for n := range 300 {
			i.Causes = append(i.Causes, incident.Cause{Kind: routing.IncidentBase, Checkpoint: fmt.Sprint(n, huge[:500*len(letter)]), Name: huge[:500*len(letter)]})
		}
		long := huge[:1000*len(letter)]
		for n := range 1000 {
			i.Members = append(i.Members, incident.Member{Case: fmt.Sprint("acme/shop@", n, long), Checkpoint: long, Author: long, Run: routing.Run{ID: long, URL: "https://github.com/acme/shop/actions/runs/1?" + long}})
		}
		for _, l := range catalog.Languages() {
			o := render.Options{Language: l, Mention: "@maintainer"}
			body, title := string(Body(i, o)), Title(i, o)
			if len(body) > 65_536-forMarker || !utf8.ValidString(body) || len(title) > 1024 || strings.Contains(title, "\n") {
				t.Errorf("S5-78: %q: %d bytes, title of %d", letter, len(body), len(title))
			}
			if n := len(i.Members); strings.Count(body, "\n| ") < 10 || !strings.Contains(body, fmt.Sprint(n-100)) && !strings.Contains(body, fmt.Sprint(n-50)) && !strings.Contains(body, fmt.Sprint(n-25)) && !strings.Contains(body, fmt.Sprint(n-12)) {
				t.Errorf("S5-78: %q: what is left out of %d members is not counted:\n%.3000s", letter, n, body)
			}
			rendertest.Inert(t, body, "https://github.com", "@maintainer")
		}
	}
}
