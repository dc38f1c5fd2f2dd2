package effect

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// What was to be posted while the App was not installed is posted when it is again; a
// pull request or an issue that is not there in a repository that is, is done with.
func TestEffectWhileTheRepositoryIsAway(t *testing.T) {
	t.Parallel()
	var there, broken atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := r.URL.Path == "/repos/acme/app"
		switch {
		case whole && broken.Load():
			w.WriteHeader(http.StatusTeapot)
		case whole && there.Load():
			fmt.Fprint(w, `{"id": 1, "full_name": "acme/app"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message": "Not Found"}`)
		}
	}))
	defer srv.Close()
	h, err := github.New(github.Options{Token: "t", BaseURL: srv.URL, Login: "switchback[bot]", ContentInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	led := &ledger.Memory{}
	g := &GitHub{Hub: HubOf(h), Repo: github.Repo{Owner: "acme", Name: "app"}, Subject: Subject{Number: 1}, Ledger: led}
	comment := routing.Effect{Kind: routing.EffectComment, Checkpoint: "ci", Key: "acme/app#1/ci/comment", Slot: "comment"}
	c, _ := failing(t, routing.Case{Key: "acme/app#1"}, "1", "a", "t")
	do := map[string]func() error{
		"a comment": func() error { _, err := g.Do(t.Context(), c, comment, false); return err },
		"an issue that is closed": func() error {
			_, err := h.Issues.Close(t.Context(), g.Repo, 7, "bye", "<!-- switchback:v1 key=k -->")
			return unlessGone(t.Context(), g.Hub, g.Repo, err)
		},
	}
	for name, do := range do {
		there.Store(false)
		err := do()
		if what := Advise(err).Kind; what != advice.Blocked || !errors.Is(err, github.ErrAbsent) {
			t.Errorf("%s, the repository is away: %v: %v", name, what, err)
		}
		if kind := advice.Of(err).Kind; kind != advice.Gone {
			t.Errorf("%s: %s", name, kind)
		}
		there.Store(true)
		err = do()
		if what := Advise(err).Kind; err != nil && what != advice.Gone {
			t.Errorf("%s, the repository is there: %v: %v", name, what, err)
		}
		broken.Store(true)
		if what := Advise(do()).Kind; what == advice.Gone {
			t.Errorf("%s, GitHub does not say: gone", name)
		}
		broken.Store(false)
	}
}
