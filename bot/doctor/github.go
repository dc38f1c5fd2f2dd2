package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/routing/redact"
)

// API is GitHub as a token sees it. It is asked for headers, which the client of the rest of the
// program does not show.
type API struct {
	URL   string // of the API, such as https://api.github.com
	Token string // "" for none
	Repo  string // OWNER/NAME
	HTTP  *http.Client
	Now   func() time.Time
}

// answer is a response of the API.
type answer struct {
	status int
	header http.Header
	body   []byte
	at     time.Time // in the middle of the request
}

// message is what GitHub says about an error.
func (a answer) message() string {
	var body struct{ Message string }
	if json.Unmarshal(a.body, &body) != nil || body.Message == "" {
		return http.StatusText(a.status)
	}
	return body.Message
}

// mostBody is how many bytes of a response are read.
const mostBody = 4 << 20

func (a API) get(ctx context.Context, path string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(a.URL, "/")+path, nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", "switchback")
	if a.Token != "" {
		req.Header.Set("Authorization", "Bearer "+a.Token)
	}
	began := a.Now()
	res, err := a.HTTP.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return answer{}, err
	}
	defer res.Body.Close()
	at := began.Add(a.Now().Sub(began) / 2)
	body, err := io.ReadAll(io.LimitReader(res.Body, mostBody))
	return answer{res.StatusCode, res.Header, body, at}, err
}

// repository is what is read of a repository.
type repository struct {
	DefaultBranch string `json:"default_branch"`
	Private       bool   `json:"private"`
	Archived      bool   `json:"archived"`
	Disabled      bool   `json:"disabled"`
	HasIssues     *bool  `json:"has_issues"`
	Permissions   *struct {
		Push bool `json:"push"`
	} `json:"permissions"`
}

// online is one look at a repository through the API.
type online struct {
	findings
	API
	repo repository
}

// GitHub checks that the API can be reached, what the token may read and write, the settings of the
// repository, and the rules for the branch of the ledger.
func GitHub(ctx context.Context, a API) []Finding {
	o := online{API: a}
	if o.reach(ctx) {
		o.settings()
		o.reads(ctx)
		o.ledger(ctx)
		o.merged(ctx)
	}
	return o.sorted()
}

// mostSkew is the difference of clocks from which GitHub refuses the App's own tokens, which are good
// for a time that begins now.
const mostSkew = time.Minute

// reach asks for the repository, and reports whether more can be asked.
func (o *online) reach(ctx context.Context) bool {
	res, err := o.get(ctx, "/repos/"+o.Repo)
	if err != nil {
		o.add(Finding{Level: Error, Check: "reachability", Message: redact.Message(fmt.Sprintf("%s cannot be reached: %v", o.URL, err)),
			Remedy: "check the network and HTTPS_PROXY; for GitHub Enterprise Server set GITHUB_API_URL to https://HOST/api/v3; --offline checks the checkout alone"})
		return false
	}
	o.add(Finding{Level: OK, Check: "reachability", Message: o.URL + " answers"})
	o.clock(res)
	switch {
	case res.status == http.StatusUnauthorized:
		o.add(Finding{Level: Error, Check: "token", Message: "GitHub does not know the token: " + res.message(), Remedy: "it has expired or was revoked; make another and set GITHUB_TOKEN"})
	case res.status == http.StatusNotFound && o.Token == "":
		o.add(Finding{Level: Error, Check: "token", Message: o.Repo + " does not exist, or is private, and there is no token", Remedy: "set GITHUB_TOKEN; `gh auth token` prints yours"})
	case res.status == http.StatusNotFound:
		o.add(Finding{Level: Error, Check: "token", Message: o.Repo + " does not exist, or the token has no access to it", Remedy: "check the name, and which repositories the token is for"})
	case res.status == http.StatusForbidden && res.header.Get("X-RateLimit-Remaining") == "0", res.status == http.StatusTooManyRequests:
		o.add(Finding{Level: Error, Check: "token", Message: "the rate limit is used up", Remedy: "run doctor again later, or set GITHUB_TOKEN, which has a higher one"})
	case res.status == http.StatusForbidden && res.header.Get("X-GitHub-SSO") != "":
		o.add(Finding{Level: Error, Check: "token", Message: "the organization asks for single sign-on", Remedy: "authorize the token for it in its settings on GitHub"})
	case res.status != http.StatusOK:
		o.add(Finding{Level: Error, Check: "token", Message: fmt.Sprintf("%s cannot be read: %s (HTTP %d)", o.Repo, res.message(), res.status)})
	case json.Unmarshal(res.body, &o.repo) != nil:
		o.add(Finding{Level: Error, Check: "reachability", Message: o.URL + " does not answer as GitHub does", Remedy: "GITHUB_API_URL names the API, such as https://HOST/api/v3, and not the pages"})
	default:
		o.token(res)
		return true
	}
	return false
}

// clock compares the clock of this machine with GitHub's.
func (o *online) clock(res answer) {
	theirs, err := http.ParseTime(res.header.Get("Date"))
	if err != nil {
		return
	}
	skew := res.at.Sub(theirs).Round(time.Second)
	switch {
	case skew.Abs() < mostSkew/2:
		o.add(Finding{Level: OK, Check: "clock", Message: "agrees with GitHub's"})
	default:
		level, way := Warning, "ahead of"
		if skew < 0 {
			way = "behind"
		}
		if skew.Abs() >= mostSkew {
			level = Error
		}
		o.add(Finding{Level: level, Check: "clock", Message: fmt.Sprintf("this machine is %v %s GitHub: tokens of the App are refused from %v on, and leases and time limits end at other times", skew.Abs(), way, mostSkew),
			Remedy: "synchronize the clock: `timedatectl set-ntp true`, or chrony"})
	}
}

// token says what the token is, by how it begins and by what GitHub says of it.
func (o *online) token(res answer) {
	const check = "token"
	scopes, classic := res.header["X-Oauth-Scopes"]
	all := strings.FieldsFunc(strings.Join(scopes, ","), func(r rune) bool { return r == ',' || r == ' ' })
	switch {
	case o.Token == "":
		o.add(Finding{Level: Warning, Check: check, Message: "there is no token: what it may do is not checked", Remedy: "set GITHUB_TOKEN; `gh auth token` prints yours"})
	case classic && !strings.HasPrefix(o.Token, "ghs_") && !slices.Contains(all, "repo") && (o.repo.Private || !slices.Contains(all, "public_repo")):
		o.add(Finding{Level: Error, Check: check, Message: fmt.Sprintf("the token has the scopes %q", strings.Join(all, ", ")), Remedy: "give it the scope `repo`, or use a fine-grained token for this repository"})
	case !strings.HasPrefix(o.Token, "ghs_") && o.repo.Permissions != nil && !o.repo.Permissions.Push:
		o.add(Finding{Level: Error, Check: check, Message: "its owner may not write to " + o.Repo, Remedy: "use a token of somebody with the role write; a workflow's own token needs none"})
	default:
		o.add(Finding{Level: OK, Check: check, Message: o.Repo + " can be read"})
	}
}

// settings checks the settings of the repository.
func (o *online) settings() {
	const check = "repository"
	if o.repo.Archived || o.repo.Disabled {
		o.add(Finding{Level: Error, Check: check, Message: o.Repo + " is archived or disabled: nothing can be written", Remedy: "unarchive it in its settings"})
	}
	if o.repo.HasIssues != nil && !*o.repo.HasIssues {
		o.add(Finding{Level: Error, Check: check, Message: "issues are disabled: no escalation can be opened", Remedy: "enable Issues in the settings of " + o.Repo})
	}
}

// reads are requests that cost little, and the permission that each shows.
func (o *online) reads(ctx context.Context) {
	for _, r := range []struct{ permission, path string }{
		{"issues", "/issues?per_page=1"},
		{"pull_requests", "/pulls?per_page=1"},
		{"actions", "/actions/runs?per_page=1"},
		{"checks", "/commits/" + url.PathEscape(o.repo.DefaultBranch) + "/check-runs?per_page=1"},
	} {
		res, err := o.get(ctx, "/repos/"+o.Repo+r.path)
		switch {
		case err != nil:
			o.add(Finding{Level: Error, Check: "reachability", Message: redact.Message(fmt.Sprintf("%s: %v", r.path, err)), Remedy: "run doctor again"})
			return
		case res.status == http.StatusForbidden || res.status == http.StatusNotFound && r.permission != "checks": // an empty repository has no commit
			need := r.permission + "=read"
			if h := res.header.Get("X-Accepted-GitHub-Permissions"); h != "" {
				need = h
			}
			o.add(Finding{Level: Error, Check: "token", Message: fmt.Sprintf("the token may not read %s: %s (HTTP %d)", strings.ReplaceAll(r.permission, "_", " "), res.message(), res.status),
				Remedy: "give it " + need + "; to post, Switchback needs write"})
		}
	}
}

// ruled are the rules that keep commits off the branch of the ledger.
var ruled = map[string]string{
	"creation": "nobody may create it", "update": "nobody may update it", "pull_request": "it changes by pull requests only",
	"required_status_checks": "its commits need checks", "required_signatures": "its commits need signatures", "workflows": "its commits need workflows",
	"required_deployments": "its commits need deployments", "merge_queue": "it changes by the merge queue only",
	"commit_message_pattern": "its commit messages have to match a pattern", "commit_author_email_pattern": "the author's address has to match a pattern",
	"committer_email_pattern": "the committer's address has to match a pattern", "branch_name_pattern": "its name does not match a pattern",
}

// actionsApp is the App of GitHub Actions, whose token workflows have.
const actionsApp = 15368

// ledger checks whether rules keep the ledger's branch from being written.
func (o *online) ledger(ctx context.Context) {
	const check, branch = "ledger", gitbranch.Branch
	remedy := "exempt " + branch + ", or let GitHub Actions bypass the rule: docs/security.md has rulesets for it"
	res, err := o.get(ctx, "/repos/"+o.Repo+"/rules/branches/"+branch)
	var rules []struct {
		Type    string
		Ruleset int64 `json:"ruleset_id"`
	}
	if err != nil || res.status != http.StatusOK || json.Unmarshal(res.body, &rules) != nil {
		o.add(Finding{Level: Note, Check: check, Message: "the rules of the branch " + branch + " cannot be read"})
		return
	}
	found := len(o.all)
	for _, r := range rules {
		if why := ruled[r.Type]; why != "" && !o.bypasses(ctx, r.Ruleset) {
			o.add(Finding{Level: Error, Check: check, Message: fmt.Sprintf("the rule %s keeps Switchback from writing %s: %s", r.Type, branch, why), Remedy: remedy})
		}
	}
	res, err = o.get(ctx, "/repos/"+o.Repo+"/branches/"+branch)
	var b struct{ Protected bool }
	if err == nil && res.status == http.StatusOK && json.Unmarshal(res.body, &b) == nil && b.Protected && len(rules) == 0 {
		o.add(Finding{Level: Warning, Check: check, Message: branch + " is protected", Remedy: "its protection must let GitHub Actions push: " + remedy})
	}
	if len(o.all) == found {
		o.add(Finding{Level: OK, Check: check, Message: "no rule keeps " + branch + " from being written"})
	}
}

// bypasses reports whether a ruleset lets GitHub Actions, or the token, do what it forbids.
func (o *online) bypasses(ctx context.Context, ruleset int64) bool {
	res, err := o.get(ctx, fmt.Sprintf("/repos/%s/rulesets/%d", o.Repo, ruleset))
	var set struct {
		Actors []struct {
			ID   int64  `json:"actor_id"`
			Type string `json:"actor_type"`
		} `json:"bypass_actors"`
		Current string `json:"current_user_can_bypass"`
	}
	if err != nil || res.status != http.StatusOK || json.Unmarshal(res.body, &set) != nil {
		return false
	}
	for _, a := range set.Actors {
		if a.Type == "Integration" && a.ID == actionsApp {
			return true
		}
	}
	return set.Current == "always" && strings.HasPrefix(o.Token, "ghs_")
}

// merged checks that the default branch has the workflows: only from there does a run of another
// workflow start one.
func (o *online) merged(ctx context.Context) {
	res, err := o.get(ctx, "/repos/"+o.Repo+"/contents/.github/workflows")
	var files []struct{ Name string }
	if err != nil || res.status != http.StatusOK && res.status != http.StatusNotFound {
		return
	}
	if res.status == http.StatusNotFound || json.Unmarshal(res.body, &files) == nil && len(files) == 0 {
		o.add(Finding{Level: Warning, Check: "workflows", Message: "the default branch, " + o.repo.DefaultBranch + ", has no workflows", Remedy: "merge them there: on: workflow_run, issues and issue_comment start the workflow of the default branch alone"})
	}
	both := 0
	for _, name := range []string{config.Path, config.OtherPath} {
		if res, err := o.get(ctx, "/repos/"+o.Repo+"/contents/"+name); err == nil && res.status == http.StatusOK {
			both++
		}
	}
	if both == 2 {
		o.add(Finding{Level: Error, Check: "configuration", Message: "the default branch has " + config.Path + " and " + config.OtherPath + ", of which the second is never read there", Remedy: "merge them into " + config.Path})
	}
}
