package github

import (
	"context"
	"regexp"
)

// MadeApp is a GitHub App as GitHub tells of it when it was made from a
// manifest: GitHub shows its secrets only once.
type MadeApp struct {
	ID            int64
	Slug, Name    string
	Owner         string // login
	URL           string // of its page
	ClientID      string
	ClientSecret  string
	WebhookSecret string // "" if the App has no webhook
	PrivateKey    string // PEM
}

var manifestCode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// ConvertManifest exchanges the code with which GitHub sent somebody back for
// the App that was made. A code is good for an hour and for one exchange: a
// used one is ErrNotFound. It needs no token. Where the outcome is unknown the
// error is Ambiguous, and the code may be used up.
func (h *Client) ConvertManifest(ctx context.Context, code string) (MadeApp, error) {
	const op = "exchange the code of the new App"
	if !manifestCode.MatchString(code) {
		return MadeApp{}, failf(op, nil, "that is not a code as GitHub gives it")
	}
	c, _, err := h.gh.Apps.CompleteAppManifest(once(ctx), code)
	if err != nil {
		return MadeApp{}, Wrap(op, err)
	}
	return MadeApp{ID: c.GetID(), Slug: c.GetSlug(), Name: c.GetName(), Owner: c.GetOwner().GetLogin(), URL: c.GetHTMLURL(),
		ClientID: c.GetClientID(), ClientSecret: c.GetClientSecret(), WebhookSecret: c.GetWebhookSecret(), PrivateKey: c.GetPEM()}, nil
}
