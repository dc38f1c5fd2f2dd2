package handler

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
)

// The configuration of the default branch may have either suffix of YAML; the other is asked for only
// where the first is not there.
func TestReadConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		there    string // the file that the repository has
		name     string
		requests int
	}{
		{config.Path, config.Path, 1},
		{config.OtherPath, config.OtherPath, 2},
		{"", config.Path, 2},
	} {
		requests := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			if c.there == "" || r.URL.Path != "/repos/acme/app/contents/"+c.there {
				http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
				return
			}
			fmt.Fprintf(w, `{"type":"file","encoding":"base64","name":%q,"path":%q,"content":%q}`, path.Base(c.there), c.there, base64.StdEncoding.EncodeToString([]byte("language: ko\n")))
		}))
		defer s.Close()
		gh, err := github.New(github.Options{BaseURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		name, data, err := ReadConfig(context.Background(), gh, github.Repo{Owner: "acme", Name: "app"})
		if name != c.name || requests != c.requests || errors.Is(err, github.ErrNotFound) != (c.there == "") || (string(data) == "language: ko\n") != (c.there != "") {
			t.Errorf("%q: %q %q after %d requests, %v", c.there, name, data, requests, err)
		}
	}
}
