package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/routing"
)

func TestLedgerOfARenamedRepository(t *testing.T) {
	t.Parallel()
	own, branch := &ledger.Memory{}, &ledger.Memory{}
	before := newRepoLedger("octo/app", "octo/app", own, branch)
	note := func(key, text string) []routing.Event { return []routing.Event{ledgertest.Note(key, text)} }
	if _, err := before.Append(t.Context(), "octo/app#12", "", note("octo/app#12", "of octo/app#12 and octo/app-two#3, see https://github.com/octo/app/pull/12")); err != nil {
		t.Fatal(err)
	}
	after := newRepoLedger("acme/tool", "octo/app", own, branch)
	events, v, err := after.Load(t.Context(), "acme/tool#12")
	if err != nil || len(events) != 1 || events[0].Stream != "acme/tool#12" ||
		ledgertest.Notes(events)[0] != "of acme/tool#12 and octo/app-two#3, see https://github.com/acme/tool/pull/12" {
		t.Fatalf("%+v %v", events, err)
	}
	if _, err := after.Append(t.Context(), "acme/tool#12", v, note("acme/tool#12", "more of acme/tool#12")); err != nil {
		t.Fatal(err)
	}
	name, err := before.Blobs().Put(t.Context(), "octo/app#12", []byte("of the old name"))
	if err != nil {
		t.Fatal(err)
	}
	blobs := after.Blobs()
	if data, err := blobs.Get(t.Context(), "acme/tool#12", name); err != nil || string(data) != "of the old name" {
		t.Errorf("%q %v", data, err)
	}
	if all, err := blobs.List(t.Context()); err != nil || len(all) != 1 || len(all[ledger.BlobFolder("acme/tool#12")]) != 1 {
		t.Errorf("%v %v", all, err)
	}
	if _, err := blobs.Put(t.Context(), "acme/tool-two#14", nil); err == nil {
		t.Error("a blob of another repository was taken")
	}
	if err := blobs.Delete(t.Context(), ledger.BlobFolder("acme/tool#12"), name); err != nil {
		t.Fatal(err)
	}
	if all, err := ledger.BlobsOf(own).List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
	if keys, err := after.Keys(t.Context()); err != nil || len(keys) != 1 || keys[0] != "acme/tool#12" {
		t.Errorf("%v %v", keys, err)
	}
	if keys, _ := own.Keys(t.Context()); len(keys) != 1 || keys[0] != "octo/app#12" {
		t.Errorf("kept as %v", keys)
	}
	stranger := []routing.Event{ledgertest.Note("acme/tool#13", "of another case")}
	if _, err := after.Append(t.Context(), "acme/tool#14", "", stranger); err == nil {
		t.Error("an event of another case was taken")
	}
	if _, err := after.Append(t.Context(), "acme/tool-two#14", "", note("acme/tool-two#14", "x")); err == nil {
		t.Error("a stream of another repository was taken")
	}
	if _, err := after.Append(t.Context(), "acme/tool#12", v, note("acme/tool#12", "late")); !errors.Is(err, ledger.ErrConflict) {
		t.Error(err)
	}
	other := newRepoLedger("octo/app", "octo/app~77", own, branch) // made anew under the name that is free
	if events, _, err := other.Load(t.Context(), "octo/app#12"); err != nil || events != nil {
		t.Errorf("a new repository has the ledger of the old one: %v %v", events, err)
	}
	if _, err := other.Append(t.Context(), "octo/app#12", "", note("octo/app#12", "new")); err != nil {
		t.Error(err)
	}
	if events, _, err := after.Load(t.Context(), "acme/tool#12"); err != nil || len(events) != 2 {
		t.Errorf("%v %v", events, err)
	}
}

func TestLedgerLeavesTheBranchToWorkflows(t *testing.T) {
	t.Parallel()
	own, branch := &ledger.Memory{}, &ledger.Memory{}
	b := newRepoLedger("octo/app", "octo/app", own, branch)
	for _, key := range []string{"octo/app#1", "octo/app@main", "octo/app!escalations", "octo/app!surveys", "octo/app!ports/plan/a", "octo/app!plans/plan", "octo/app!feedback-requests"} {
		if _, err := b.Append(t.Context(), key, "", []routing.Event{ledgertest.Note(key, "x")}); err != nil {
			t.Fatal(err)
		}
	}
	mine, _ := own.Keys(t.Context())
	theirs, _ := branch.Keys(t.Context())
	if got := strings.Join(mine, " "); got != "octo/app!escalations octo/app#1 octo/app@main" {
		t.Error(got)
	}
	if got := strings.Join(theirs, " "); got != "octo/app!feedback-requests octo/app!plans/plan octo/app!ports/plan/a octo/app!surveys" {
		t.Error(got)
	}
	if all, err := b.Keys(t.Context()); err != nil || len(all) != 7 {
		t.Errorf("%v %v", all, err)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	own, branch := &ledger.Memory{}, &ledger.Memory{}
	for _, key := range []string{"octo/app#1", "octo/app@main", "octo/app!escalations", "octo/app!surveys"} {
		if _, err := branch.Append(t.Context(), key, "", []routing.Event{ledgertest.Note(key, "of the Action")}); err != nil {
			t.Fatal(err)
		}
	}
	b := newRepoLedger("octo/app", "octo/app", own, branch)
	if yes, err := recordedByAction(t.Context(), b); err != nil || !yes {
		t.Errorf("%v %v", yes, err)
	}
	if _, err := b.Append(t.Context(), "octo/app#1", "", []routing.Event{ledgertest.Note("octo/app#1", "of the App")}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{2, 0} { // done again it does nothing
		if n, err := importLedger(t.Context(), b); err != nil || n != want {
			t.Errorf("%d streams, %v; want %d", n, err, want)
		}
	}
	for key, want := range map[string]string{"octo/app#1": "of the App", "octo/app@main": "of the Action", "octo/app!escalations": "of the Action"} {
		if events, _, err := b.Load(t.Context(), key); err != nil || len(events) != 1 || ledgertest.Notes(events)[0] != want {
			t.Errorf("%s: %v %v", key, events, err)
		}
	}
	if keys, _ := own.Keys(t.Context()); len(keys) != 3 {
		data, _ := json.Marshal(keys)
		t.Errorf("taken over are %s", data)
	}
}

// listing is a branch that lists a stream which it does not give.
type listing struct {
	ledger.Ledger
	key string
}

func (l listing) Keys(context.Context) ([]string, error) { return []string{l.key}, nil }

func TestImportLosesNothing(t *testing.T) {
	t.Parallel()
	b := newRepoLedger("octo/app", "octo/app", &ledger.Memory{}, listing{&ledger.Memory{}, "octo/app#1"})
	if n, err := importLedger(t.Context(), b); err == nil || n != 0 || !strings.Contains(err.Error(), "octo/app#1") {
		t.Errorf("%d streams, %v", n, err)
	}
}
