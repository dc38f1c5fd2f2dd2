package analysis

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// mostInventory is what the event of a run holds of its tests, in bytes: about 1700 tests. Of more it
// holds those that did not pass, if they fit, and all of them are a blob of the ledger.
const mostInventory = 16 << 10

// mostTests bounds the tests that are held in memory.
const mostTests = 1 << 20

// inventory collects the tests of all sources for the history of a checkpoint.
type inventory struct {
	checkpoint string
	next       Tests // gets all of it too; may be nil
	sources    []heldTests
	tests      int
	bytes      int  // of the names of the tests
	naming     bool // the names are kept too
	owner      func(file string) string
}

// mostNames bounds the names, in bytes, by which a run without failures is compared with others.
const mostNames = 32 << 20

// Source implements Tests.
func (in *inventory) Source() {
	in.sources = append(in.sources, heldTests{})
	if in.next != nil {
		in.next.Source()
	}
}

// Add implements Tests.
func (in *inventory) Add(t *testreport.Test) {
	if in.next != nil {
		in.next.Add(t)
	}
	if in.tests++; in.tests > mostTests {
		return
	}
	to := &in.sources[len(in.sources)-1]
	to.add(history.TestID(in.checkpoint, t.Suite, t.Name), statusOf(t), history.StepsOf(t.Duration))
	in.bytes += len(t.Suite) + len(t.Name) + len(t.File)
	if in.bytes <= mostNames {
		to.compared++
	}
	if in.bytes <= mostNames || in.naming {
		to.name(history.Name{Suite: t.Suite, Name: t.Name, File: t.File})
	}
}

func statusOf(t *testreport.Test) history.Status {
	switch {
	case t.Flaky:
		return history.Flaky
	case t.Status == testreport.Passed:
		return history.Passed
	case t.Status == testreport.Skipped:
		return history.Skipped
	}
	return history.Failed
}

// Leave implements Tests.
func (in *inventory) Leave(source int) {
	in.sources[source] = heldTests{}
	if in.next != nil {
		in.next.Leave(source)
	}
}

// packed returns the tests with the failures of the verdict: those that the verdict holds, nil if even
// the ones that did not pass are too many, and all of them where it does not hold all.
func (in *inventory) packed(v routing.Verdict) (held, whole []byte) {
	if in.checkpoint == "" {
		return nil, nil
	}
	failed := routing.FailedTests(in.checkpoint, v)
	n := 0
	for i := range in.sources {
		n += in.sources[i].ids.len()
	}
	tests := make([]history.Test, 0, n+len(failed))
	for i := range in.sources {
		tests = in.sources[i].appendTo(tests)
	}
	partial := len(tests) < v.Counts.Tests || v.Dropped > 0
	tests = append(tests, failed...)
	inv := history.New(tests, partial)
	if held = inv.Pack(); len(held) <= mostInventory {
		return held, nil
	}
	whole = held
	if held = inv.Unpassed().Pack(); len(held) > mostInventory {
		return nil, whole // the failures of the verdict are what is left
	}
	return held, whole
}

// packedNames returns the names of the tests, nil where they are not wanted or there are none.
func (in *inventory) packedNames() []byte {
	if !in.naming {
		return nil
	}
	var names []history.Name
	for i := range in.sources {
		names = append(names, in.sources[i].unpack(in.sources[i].named)...)
	}
	if len(names) == 0 {
		return nil
	}
	names = redacted(names)
	owners := map[string]string{"": ""}
	for i := range names {
		file := names[i].File
		if _, known := owners[file]; !known && in.owner != nil {
			owners[file] = in.owner(file)
		}
		names[i].Owner = owners[file]
	}
	return history.NewNames(in.checkpoint, names).Pack()
}

// redacted masks secrets in names, of which many are masked at once.
func redacted(names []history.Name) []history.Name {
	const many = 500
	for part := range slices.Chunk(names, many) {
		var b strings.Builder
		for _, n := range part {
			for _, s := range []string{n.Suite, n.Name, n.File} {
				b.WriteString(strings.ReplaceAll(s, "\n", " "))
				b.WriteByte('\n')
			}
		}
		text := b.String()
		masked := redact.Text(text)
		if masked == text {
			continue
		}
		lines := strings.Split(masked, "\n")
		for i := range part {
			if len(lines) != 3*len(part)+1 { // what was masked went over several lines
				part[i] = history.Name{Suite: redact.Text(part[i].Suite), Name: redact.Text(part[i].Name), File: redact.Text(part[i].File)}
				continue
			}
			part[i] = history.Name{Suite: lines[3*i], Name: lines[3*i+1], File: lines[3*i+2]}
		}
	}
	return names
}

// ran returns the tests of a run without failures with their names.
func (in *inventory) ran(v routing.Verdict) history.Ran {
	n := 0
	for i := range in.sources {
		n += in.sources[i].compared
	}
	tests := make([]history.Named, 0, n)
	for i := range in.sources {
		tests = in.sources[i].appendNamed(tests, in.sources[i].compared)
	}
	return history.NewRan(tests, in.bytes > mostNames || in.tests > mostTests || len(tests) < v.Counts.Tests || v.Dropped > 0)
}

// logged returns the sources that are logs and name tests, and which failing tests no other source
// names.
func (in *inventory) logged(sources []Source, v routing.Verdict) (jobs []string, tests routing.TestIDs) {
	if !slices.ContainsFunc(sources, func(s Source) bool { return s.JobLog != "" }) {
		return nil, nil
	}
	reported, inLogs := map[history.ID]bool{}, map[history.ID]bool{}
	for i, of := range in.sources {
		log := i < len(sources) && sources[i].JobLog != ""
		if log && len(of.ids) > 0 {
			jobs = append(jobs, sources[i].JobLog)
		}
		for _, ids := range of.ids {
			for _, id := range ids {
				if log {
					inLogs[id] = true
				} else {
					reported[id] = true
				}
			}
		}
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	slices.Sort(jobs)
	for _, f := range routing.FailedTests(in.checkpoint, v) {
		if inLogs[f.ID] && !reported[f.ID] {
			tests = append(tests, f.ID)
		}
	}
	return slices.Compact(jobs), tests
}
