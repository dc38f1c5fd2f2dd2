package setup

import (
	"strings"
	"testing"
)

func TestWishes(t *testing.T) {
	t.Parallel()
	fine := Wish{Name: "Switchback", Server: "https://switchback.acme.test"}
	for _, c := range []struct {
		change func(*Wish)
		server string // wanted
		err    string
	}{
		{func(*Wish) {}, fine.Server, ""},
		{func(w *Wish) { w.Server += "/webhook" }, fine.Server, ""},
		{func(w *Wish) { w.Server += "/ci/" }, fine.Server + "/ci", ""},
		{func(w *Wish) { w.Org = "acme-corp" }, fine.Server, ""},
		{func(w *Wish) { w.Name = strings.Repeat("ä", 34) }, fine.Server, ""},
		{func(w *Wish) { w.Name = strings.Repeat("a", 35) }, "", "35 characters"},
		{func(w *Wish) { w.Name = " " }, "", "0 characters"},
		{func(w *Wish) { w.Org = "acme/../x" }, "", "not the name of an organisation"},
		{func(w *Wish) { w.Server = "switchback.acme.test" }, "", "not the address of a server"},
		{func(w *Wish) { w.Server = "https://me:secret@acme.test" }, "", "not the address of a server"},
		{func(w *Wish) { w.Server = "http://127.0.0.1:8080" }, "", "on this machine"},
		{func(w *Wish) { w.Server = "http://[::1]:8080" }, "", "on this machine"},
	} {
		w := fine
		c.change(&w)
		got, err := w.Check()
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %v, want %q", w, err, c.err)
			}
		} else if err != nil || got.Server != c.server {
			t.Errorf("%+v: %+v %v", w, got, err)
		}
	}
}
