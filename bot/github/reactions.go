package github

import "context"

// React puts the reaction +1 on a comment of an issue or pull request. One of
// the bot's that is there already stays as it is.
func (h *Client) React(ctx context.Context, r Repo, comment int64) error {
	_, _, err := h.gh.Reactions.CreateIssueCommentReaction(ctx, r.Owner, r.Name, comment, "+1")
	return Wrap(opf("react to comment %d of %s", comment, r), err)
}
