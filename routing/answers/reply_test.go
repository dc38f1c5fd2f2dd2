package answers

import "testing"

func TestSwapText(t *testing.T) {
	t.Parallel()
	body := "a\n" + TextBegin + "\n\nmine\n\n" + TextEnd + "\nb\n"
	if got := BodyText(body); got != "mine" {
		t.Errorf("%q", got)
	}
	for _, c := range []struct{ name, body, was, text, want string }{
		{"another text takes its place", body, "mine", "was\nthere", "was\nthere"},
		{"an empty one", body, "mine", "", ""},
		{"what somebody else wrote since stays", body, "yours", "was", "mine"},
		{"without its marks nothing is changed", "a\nb", "mine", "was", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := SwapText(c.body, c.was, c.text)
			if BodyText(got) != c.want {
				t.Errorf("%q", got)
			}
			if again := SwapText(got, c.was, c.text); BodyText(again) != c.want {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}
