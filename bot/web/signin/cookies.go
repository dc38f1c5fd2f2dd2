package signin

import (
	"net/http"
	"time"
)

// The names of the cookies. The prefix marks cookies that no other host can set.
const (
	sessionCookie = "switchback-session"
	pendingCookie = "switchback-sign-in"
	hostPrefix    = "__Host-"
)

// cookies reads and writes the cookies of the sign-in.
type cookies struct {
	secure bool // only over https
}

func (k cookies) name(cookie string) string {
	if k.secure {
		return hostPrefix + cookie
	}
	return cookie
}

func (k cookies) get(r *http.Request, name string) (string, bool) {
	c, err := r.Cookie(k.name(name))
	if err != nil || c.Value == "" {
		return "", false
	}
	return c.Value, true
}

// set stores a cookie in the browser for a time, or deletes it if that is negative. The browser
// sends it when it follows a link to this server, because GitHub redirects to one, but not with
// other requests of other sites.
func (k cookies) set(w http.ResponseWriter, name, value string, within time.Duration) {
	c := &http.Cookie{Name: k.name(name), Value: value, Path: "/", MaxAge: int(within / time.Second), Secure: k.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if within < 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
