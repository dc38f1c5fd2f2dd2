// Package effect carries out on GitHub what a case has decided, one effect at
// a time: it renders the newest state and lets the hub bring GitHub to it.
package effect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing"
)

// Subject is what a case is about: a pull request, a branch, or a merge group, which is the branch that
// a merge queue made for it.
type Subject struct {
	Number        int // of the pull request, 0 for a branch
	Author        string
	Branch        string // the head branch
	Base          string // the branch that the pull request is to be merged into
	DefaultBranch string
	Labels        []string // of the pull request as read last; nil if unknown
	Fork          bool     // the head branch is not in the repository
	Head          string   // newest commit of the pull request, "" if unknown
	Trusted       bool     // the change comes from people who may write: it starts agents without a maintainer's approval
}

// Ref returns the subject's name within its repository: "#12" or "@main".
func (s Subject) Ref() string {
	if s.Number > 0 {
		return "#" + strconv.Itoa(s.Number)
	}
	return "@" + s.Branch
}

// Group reports whether the subject is a merge group.
func (s Subject) Group() bool { return s.Number == 0 && routing.InQueue(s.Branch) }

// Key returns the key of the subject's case.
func (s Subject) Key(r github.Repo) string { return r.String() + s.Ref() }

// PullRequest returns the subject that a pull request is; defaultBranch is that of its repository.
// Whether it is trusted is not known yet.
func PullRequest(p github.PullRequest, defaultBranch string) Subject {
	return Subject{Number: p.Number, Author: p.Author, Branch: p.HeadRef, Base: p.BaseRef, Labels: p.Labels, DefaultBranch: defaultBranch, Fork: p.Fork, Head: p.HeadSHA}
}

// ParseSubject reads the subject out of the key of a case of repository r.
func ParseSubject(r github.Repo, key string) (Subject, error) {
	ref, ok := strings.CutPrefix(key, r.String())
	if !ok {
		return Subject{}, fmt.Errorf("case %q is not of repository %s", key, r)
	}
	if b, ok := strings.CutPrefix(ref, "@"); ok {
		return Subject{Branch: b}, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(ref, "#"))
	if err != nil || n <= 0 || !strings.HasPrefix(ref, "#") {
		return Subject{}, fmt.Errorf("case %q names neither a pull request nor a branch", key)
	}
	return Subject{Number: n}, nil
}

// Advise says what to do about an error of an effect. What is to be done in a repository that this
// identity cannot see stays pending: access may be granted again.
func Advise(err error) advice.Advice {
	switch {
	case errors.Is(err, github.ErrAbsent):
		return advice.Advice{Kind: advice.Blocked, Reason: "absent"}
	case errors.Is(err, github.ErrMoved):
		return advice.Advice{Kind: advice.Gone}
	}
	return advice.Of(err)
}
