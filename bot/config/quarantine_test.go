package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestQuarantineHasAnEndS5_50(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 51 {
		fmt.Fprintf(&many, "  - {test: T%d, until: 2026-06-01}\n", i)
	}
	for text, want := range map[string]string{
		"quarantine:\n  - TestAdd\n":                                         `c.yml:2: "TestAdd" has no date; every quarantine ends: write {test: TestAdd, until: YYYY-MM-DD}, a day at most 30 days ahead`,
		"quarantine:\n  - test: TestAdd\n":                                   "c.yml:2: quarantine[0] has no date; every quarantine ends: write until: YYYY-MM-DD",
		"quarantine:\n  - {until: 2026-06-01}\n":                             "c.yml:2: quarantine[0] names no test",
		"quarantine:\n  - {test: A, until: tomorrow}\n":                      `c.yml:2: "tomorrow" is not a date; write it as 2026-01-31`,
		"quarantine:\n  - {test: A, until: 2026-02-30}\n":                    `"2026-02-30" is not a date`,
		"quarantine:\n  - {test: A, till: 2026-06-01}\n":                     `unknown key "till"`,
		"quarantine_days: 31\n":                                              "c.yml:1: quarantine_days is 31; it must be 1 to 30",
		"quarantine_days: 0\n":                                               "quarantine_days is 0",
		"quarantine:\n" + many.String():                                      "51 tests are in quarantine, at most 50 may be",
		"quarantine:\n  - {test: A, until: \"2026-06-01\"}\n":                "",
		"quarantine:\n  - test: A\n    until: 2026-06-01\n":                  "",
		"quarantine:\n  - {test: A, until: 2026-06-01}\nquarantine_days: 30": "",
	} {
		_, err := Parse("c.yml", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("S5-50: %q: got %v, want %q", text, err, want)
		}
	}
}

func TestQuarantineAtATimeS5_50(t *testing.T) {
	t.Parallel()
	f, err := Parse("c.yml", []byte("quarantine:\n  - {test: Past, until: 2026-05-01}\n  - {test: Now, until: 2026-06-01}\n  - {test: Far, until: 2026-06-04}\n"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	tooFar, past := f.Untimely(now)
	if len(tooFar) != 1 || !strings.Contains(tooFar[0], "quarantine[2]: 2026-06-04 is more than 30 days ahead; write a day until 2026-06-03") || len(past) != 1 || !strings.Contains(past[0], "of Past ended on 2026-05-01") {
		t.Errorf("S5-50: %q, %q", tooFar, past)
	}
	var names []string
	for _, q := range f.At(now).Policy("ci", "", nil).Quarantine {
		names = append(names, q.Test)
	}
	if got := strings.Join(names, " "); got != "Past Now" || len(f.Quarantine) != 3 {
		t.Errorf("S5-50: %s hold at %s", got, now)
	}
}
