package advice

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	t.Parallel()
	suspended := New("suspended", Advice{Kind: Blocked, Reason: "suspended"})
	busy := New("busy", Advice{Later, time.Minute, ""})
	for _, c := range []struct {
		err  error
		want Advice
		name string
	}{
		{nil, Advice{}, ""},
		{errors.New("anything"), Advice{Kind: Fail}, "fail"},
		{busy, Advice{Later, time.Minute, ""}, "later"},
		{fmt.Errorf("x: %w", busy), Advice{Later, time.Minute, ""}, "later"},
		{errors.Join(errors.New("x"), suspended), Advice{Blocked, whileBlocked, "suspended"}, "suspended"},
		{context.Canceled, Advice{Later, time.Second, "cut off"}, "cut off"},
		{errors.Join(suspended, context.Canceled), Advice{Later, time.Second, "cut off"}, "cut off"},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), Advice{Kind: Later, Reason: "cut off"}, "cut off"},
		{errors.Join(context.DeadlineExceeded, busy), Advice{Later, time.Minute, ""}, "later"},
	} {
		if got := Of(c.err); got != c.want || got.Name() != c.name {
			t.Errorf("%v: %+v (%s), want %+v (%s)", c.err, got, got.Name(), c.want, c.name)
		}
	}
	if !errors.Is(fmt.Errorf("x: %w", suspended), suspended) || errors.Is(busy, suspended) {
		t.Error("errors with advice are not told apart by identity")
	}
}
