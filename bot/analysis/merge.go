package analysis

import (
	"strings"
	"unicode"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// merged joins the reports. Console output beside a machine-made report is
// counted only for what that report does not know: failures it lacks.
func (st *state) merged() *testreport.Report {
	out := &testreport.Report{}
	for _, r := range st.docs {
		out.Merge(r)
	}
	if len(st.docs) == 0 {
		for _, r := range st.logs {
			out.Merge(r)
		}
		return out
	}
	known := newKnown(out.Failing, out.Flaky)
	for i, r := range st.logs {
		known.reduce(r)
		out.Merge(r)
		if st.in.Tests != nil {
			st.in.Tests.Leave(st.logAt[i])
		}
	}
	return out
}

// known are the tests that machine-made reports list as failed or flaky.
type known struct {
	full  map[string]bool // by their whole name
	leafs map[string]int  // by the last part of it: how many of that name
}

func newKnown(lists ...[]testreport.Test) known {
	k := known{map[string]bool{}, map[string]int{}}
	for _, l := range lists {
		for _, t := range l {
			k.full[letters(t.Suite+t.Name)] = true
			k.leafs[letters(leaf(t.Name))]++
		}
	}
	return k
}

// reduce leaves in a console's report only the failures that k lacks, since
// what a console and a document call one test differs in all but its last
// part: of one last part as many are taken for known as the documents list.
func (k known) reduce(r *testreport.Report) {
	var lacking []testreport.Test
	seen := map[string]bool{}
	for _, t := range r.Failing {
		full := letters(t.Suite + t.Name)
		if k.full[full] || seen[full] {
			continue
		}
		if l := letters(leaf(t.Name)); k.leafs[l] > 0 {
			k.leafs[l]--
			seen[full] = true
			continue
		}
		lacking = append(lacking, t)
	}
	n := len(lacking)
	if n == len(r.Failing) {
		n = r.Counts.Failed // also those that were counted and not kept
	}
	r.Counts, r.Failing, r.Flaky = testreport.Counts{Tests: n, Failed: n}, lacking, nil
}

// leaf returns the last part of a test's name: what stands behind the path of
// its suite, with the parameters of the case.
func leaf(name string) string {
	for _, sep := range []string{" > ", " › ", "::"} {
		if i := strings.LastIndex(name, sep); i >= 0 && i+len(sep) < len(name) {
			name = name[i+len(sep):]
		}
	}
	return name
}

// letters returns the letters and digits of s in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
