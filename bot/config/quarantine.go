package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
)

// How long a quarantine lasts at most, and how many tests may be in one at a time.
const (
	MaxQuarantineDays = int(routing.MaxQuarantine / (24 * time.Hour))
	MaxQuarantined    = routing.MaxQuarantined
)

// QuarantinedTest is a test whose failures do not count until a date.
type QuarantinedTest struct {
	Test  string `yaml:"test" json:"test" jsonschema:"description=Name of the test with or without its suite."`
	Until Date   `yaml:"until" json:"until" jsonschema:"description=Day at most 30 days ahead from which on its failures count again; it begins at 0:00 UTC."`
}

// Date is a day, as 2026-01-31.
type Date string

// Begin returns when the day begins in UTC, zero for no date.
func (d Date) Begin() time.Time {
	at, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return time.Time{}
	}
	return at
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Date) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || Date(n.Value).Begin().IsZero() {
		return &yaml.TypeError{Errors: []string{lineError(n.Line, "%q is not a date; write it as 2026-01-31", n.Value)}}
	}
	*d = Date(n.Value)
	return nil
}

// JSONSchema implements the schema generator's interface.
func (Date) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`, Examples: []any{"2026-01-31"}}
}

// QuarantineTime returns how long a test stays in quarantine that a person puts there.
func (f File) QuarantineTime() time.Duration {
	if f.QuarantineFor == nil {
		return routing.DefaultQuarantine
	}
	return time.Duration(*f.QuarantineFor) * 24 * time.Hour
}

// quarantine checks the tests in quarantine, apart from how far ahead their dates are.
func (c checker) quarantine(f File) {
	if n := f.QuarantineFor; n != nil && (*n < 1 || *n > MaxQuarantineDays) {
		c.add([]any{"quarantine_days"}, "quarantine_days is %d; it must be 1 to %d", *n, MaxQuarantineDays)
	}
	if n := len(f.Quarantine); n > MaxQuarantined {
		c.add([]any{"quarantine"}, "%d tests are in quarantine, at most %d may be; fix or delete some of them", n, MaxQuarantined)
		return
	}
	for i, q := range f.Quarantine {
		if strings.TrimSpace(q.Test) == "" {
			c.add([]any{"quarantine", i}, "quarantine[%d] names no test; write test: NAME", i)
		}
		if q.Until == "" {
			c.add([]any{"quarantine", i}, "quarantine[%d] has no date; every quarantine ends: write until: YYYY-MM-DD, a day at most %d days ahead", i, MaxQuarantineDays)
		}
	}
}

// Untimely returns what is wrong at a time with the dates of tests in quarantine: those too far ahead
// do not hold yet, and those that are past hold no more.
func (f File) Untimely(now time.Time) (tooFar, past []string) {
	for i, q := range f.Quarantine {
		until, day := q.Until.Begin(), q.Until
		switch {
		case until.Sub(now) > routing.MaxQuarantine:
			tooFar = append(tooFar, fmt.Sprintf("quarantine[%d]: %s is more than %d days ahead; write a day until %s", i, day, MaxQuarantineDays, now.UTC().Add(routing.MaxQuarantine).Format(time.DateOnly)))
		case !now.Before(until):
			past = append(past, fmt.Sprintf("quarantine[%d]: the quarantine of %s ended on %s; its failures count again", i, q.Test, day))
		}
	}
	return tooFar, past
}

// At returns the file as it holds at a time: without tests whose quarantine lasts too long.
func (f File) At(now time.Time) File {
	kept := f.Quarantine[:0:0]
	for _, q := range f.Quarantine {
		if q.Until.Begin().Sub(now) <= routing.MaxQuarantine {
			kept = append(kept, q)
		}
	}
	f.Quarantine = kept
	return f
}
