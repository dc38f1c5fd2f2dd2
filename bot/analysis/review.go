package analysis

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/switchback-ci/switchback/routing"
)

// peek returns the first bytes of r, up to n where an object begins, and a
// reader of all of it.
func peek(r io.Reader, n int64) ([]byte, io.Reader) {
	var head bytes.Buffer
	_, err := io.CopyN(&head, r, 512)
	if err == nil && bytes.HasPrefix(bytes.TrimLeft(head.Bytes(), "\xef\xbb\xbf \t\r\n"), []byte("{")) {
		_, _ = io.CopyN(&head, r, n)
	}
	return head.Bytes(), io.MultiReader(bytes.NewReader(head.Bytes()), r)
}

// asReview reads a structured review: an object with a decision and issues.
func asReview(b []byte) (*routing.ReviewResult, bool, error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	if !bytes.HasPrefix(b, []byte("{")) || !bytes.Contains(b, []byte(`"decision"`)) {
		return nil, false, nil
	}
	var probe map[string]json.RawMessage
	if json.Unmarshal(b, &probe) != nil || probe["decision"] == nil || (probe["issues"] == nil && probe["passed"] == nil) {
		return nil, false, nil
	}
	var r routing.ReviewResult
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, false, err
	}
	if err := r.Validate(); err != nil {
		return nil, false, err
	}
	if r.Decision == routing.Approved && probe["passed"] != nil && !r.Passed {
		return nil, false, errors.New("decision is APPROVED, but passed is false")
	}
	return &r, true, nil
}

// addReview takes a further review of the run: one that rejects stays so
// whatever another says, and no issue is lost.
func (st *state) addReview(r routing.ReviewResult) {
	if st.review == nil {
		st.review = &r
		return
	}
	first, second := *st.review, r
	if gravityOf(second, st.in.FailOn) > gravityOf(first, st.in.FailOn) {
		first, second = second, first
	}
	first.Issues = append(append([]routing.ReviewIssue(nil), first.Issues...), second.Issues...)
	st.review = &first
}

func gravityOf(r routing.ReviewResult, on routing.FailOn) int {
	switch r.Outcome(on) {
	case routing.Rejected:
		return 3
	case routing.ReviewFailed:
		return 2
	}
	return 1
}

// reviewOnly is the verdict of a run that left a review and nothing else. A
// review cannot approve what did not end well, could not be read, or has to leave a report.
func (st *state) reviewOnly() routing.Verdict {
	v := routing.ReviewVerdict("", routing.Run{}, *st.review, st.in.FailOn)
	v.Notes = st.notes
	if v.Result == routing.Pass {
		v.Unmet = st.in.Criteria.Unmet(v.Counts)
		if r := st.in.Criteria.RequireReport; r != nil && *r {
			v.Unmet = append(v.Unmet, "the review approved, but no test report was found (require_report)")
		}
	}
	switch c := st.in.Conclusion; {
	case v.Result != routing.Pass:
	case c != "" && c != "success":
		v.Result, v.Class, v.Reason = routing.Unclear, routing.Unknown, "the review approved, but the run ended as "+c
	case len(st.unread) > 0:
		v.Result, v.Class, v.Reason = routing.Unclear, routing.Unknown, "the review approved, but "+st.unread[0]
	}
	return v
}

// withReview joins what the tests said with a review of the same run: it
// passes only if both do.
func (st *state) withReview(v routing.Verdict) routing.Verdict {
	if st.review == nil {
		return v
	}
	rv := routing.ReviewVerdict("", routing.Run{}, *st.review, st.in.FailOn)
	switch {
	case rv.Result == routing.Pass:
		return v
	case v.Result == routing.Pass:
		rv.Counts, rv.Notes, rv.Unmet = v.Counts, v.Notes, v.Unmet
		return rv
	}
	for _, f := range rv.Failures {
		f.Decisive = false
		v.Failures = append(v.Failures, f)
	}
	return v
}
