package render

import (
	"strings"
	"testing"
)

func TestOptionsTrustNoAddress(t *testing.T) {
	t.Parallel()
	o := Options{}
	sha := strings.Repeat("a", 40)
	for _, file := range []string{"../../x", "/etc/passwd", "a/../b", "", "https://e.vil/x", "a\nb", `a\b`, "./a"} {
		if u := o.blob("acme/shop", sha, file, 1); u != "" {
			t.Errorf("blob(%q) = %s", file, u)
		}
	}
	if u := o.blob("acme/shop", sha, "a dir/(x)#?.go", 3); u != "https://github.com/acme/shop/blob/"+sha+"/a%20dir/%28x%29%23%3F.go#L3" {
		t.Errorf("blob: %s", u)
	}
	for _, u := range []string{"https://e.vil/x", "javascript:alert(1)", "https://github.com.e.vil/x", "https://a@github.com/x", "https://github.com/x)y", "//github.com/x"} {
		if got := o.Address(u); got != "" {
			t.Errorf("address(%q) = %q", u, got)
		}
	}
	for in, want := range map[string]string{"@octocat": "@octocat", "octocat": "", "@a b @c": "@a @c", "@x](y)": "", "@acme/team": "@acme/team", "@copilot[bot]": "@copilot[bot]"} {
		if got := (Options{Mention: in}).Mentions(); got != want {
			t.Errorf("mention(%q) = %q, want %q", in, got, want)
		}
	}
}
