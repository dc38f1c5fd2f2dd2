package github

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hmarr/codeowners"
)

// Where GitHub looks for the owners of code, in its order.
var ownersFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

const (
	maxAssignees = 10 // GitHub's limit of an issue
	maxAsked     = 20 // owners asked for, each a request
)

// CodeOwnersService reads CODEOWNERS.
type CodeOwnersService struct {
	*core
	contents      *ContentsService
	collaborators *CollaboratorsService
}

// List returns the logins of the people who own files according to CODEOWNERS at ref and who can
// be assigned to an issue, at most 10, the owners of the first files first. Teams cannot be
// assigned, and email addresses are not resolved. There are none without a readable CODEOWNERS.
func (s *CodeOwnersService) List(ctx context.Context, r Repo, ref string, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	rules, err := s.rules(ctx, r, ref)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	var out []string
	for _, login := range named(rules, files) {
		ok, err := s.collaborators.Assignable(ctx, r, login)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, login)
		}
		if len(out) == maxAssignees {
			break
		}
	}
	return out, nil
}

// Owners returns who owns a file according to the last matching rule of CODEOWNERS at ref, as GitHub
// reads it: logins and teams, each with "@". Email addresses are left out. There are none without a
// readable CODEOWNERS.
func (s *CodeOwnersService) Owners(ctx context.Context, r Repo, ref, file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	rules, err := s.rules(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	return ownersOf(rules, file), nil
}

// Of returns who owns files according to CODEOWNERS at ref, as Owners does for one.
func (s *CodeOwnersService) Of(ctx context.Context, r Repo, ref string) (func(file string) []string, error) {
	rules, err := s.rules(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	return func(file string) []string { return ownersOf(rules, file) }, nil
}

// OwnersIn is Owners of the text of a CODEOWNERS.
func OwnersIn(text []byte, file string) []string {
	rules, _ := rulesOf(text) // what is invalid GitHub skips too
	return ownersOf(rules, file)
}

// OwnersFiles are the places of CODEOWNERS in a repository, in the order in which GitHub looks.
func OwnersFiles() []string { return slices.Clone(ownersFiles) }

// ownersOf returns the logins and teams that the last rule for a file names.
func ownersOf(rules codeowners.Ruleset, file string) []string {
	rule, err := rules.Match(strings.TrimPrefix(file, "./"))
	if err != nil || rule == nil {
		return nil
	}
	var out []string
	for _, o := range rule.Owners {
		if name := "@" + o.Value; o.Type != codeowners.EmailOwner && !slices.Contains(out, name) && len(out) < maxAssignees {
			out = append(out, name)
		}
	}
	return out
}

func (s *CodeOwnersService) rules(ctx context.Context, r Repo, ref string) (codeowners.Ruleset, error) {
	for _, name := range ownersFiles {
		data, err := s.contents.Get(ctx, r, name, ref)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rules, bad := rulesOf(data)
		if bad != nil { // GitHub shows its errors to those who can fix it
			s.o.Log.Warn("some owners of the code cannot be read", "repo", r.String(), "file", name, "err", bad)
		}
		return rules, nil
	}
	return nil, nil
}

// rulesOf parses a CODEOWNERS. Like GitHub it skips invalid lines; bad is the error of the first of
// them.
func rulesOf(data []byte) (rules codeowners.Ruleset, bad error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for _, line := range bytes.Split(data, []byte("\n")) {
		one, err := codeowners.ParseFile(bytes.NewReader(line))
		if err != nil && bad == nil {
			bad = err
		}
		rules = append(rules, one...)
	}
	return rules, bad
}

// named returns the users that the rules name for files.
func named(rules codeowners.Ruleset, files []string) []string {
	var out []string
	for _, f := range files {
		rule, err := rules.Match(f)
		if err != nil || rule == nil {
			continue
		}
		for _, o := range rule.Owners {
			same := func(s string) bool { return strings.EqualFold(s, o.Value) }
			if o.Type == codeowners.UsernameOwner && !slices.ContainsFunc(out, same) && len(out) < maxAsked {
				out = append(out, o.Value)
			}
		}
	}
	return out
}
