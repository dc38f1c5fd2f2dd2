package action

import (
	"context"

	"github.com/switchback-ci/switchback/bot/github"
)

// mayAnswer asks GitHub now whether a person has the role want in the
// repository, and says which it has.
func (f *face) mayAnswer(ctx context.Context, login, want string) (may bool, role string, err error) {
	role, err = f.hub.Role(ctx, f.repo, login)
	return github.Allows(role, want), role, err
}
