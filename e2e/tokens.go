package e2e

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// identity is who a token speaks for. App is 0 for a user's own token, Install
// unless it is of an installation that Install added.
type identity struct {
	Login   string
	App     int
	Install int
}

// tokens knows every token of the bench. Emulate takes an unknown token for
// its first user; the gaps server refuses it with this list.
type tokens struct {
	key   *rsa.PrivateKey
	users map[string]string // login → token

	mu      sync.Mutex
	ids     map[string]identity // token → who
	aliases map[string][]string // login → what emulate is given instead
	turn    int
}

// aliasCount is how many tokens of a user emulate knows: it allows each 5000
// requests an hour, which one bench's tests and its own questions use up.
const aliasCount = 100

type app struct {
	id, installation int
	slug, name       string
	permissions      map[string]string
}

// Switchback is the first: emulate names the first App's installation for a
// repository, whoever asks.
var apps = []app{
	{SwitchbackAppID, 2, "switchback", "Switchback", allPermissions("write")},
	{ActionsAppID, 1, "github-actions", "GitHub Actions", allPermissions("write")},
}

func allPermissions(level string) map[string]string {
	p := map[string]string{"metadata": "read"}
	for _, k := range []string{"actions", "checks", "contents", "issues", "pull_requests", "workflows"} {
		p[k] = level
	}
	return p
}

func appByID(id int) *app {
	for i := range apps {
		if apps[i].id == id {
			return &apps[i]
		}
	}
	return nil
}

func newTokens() (*tokens, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	t := &tokens{key: key, users: map[string]string{}, ids: map[string]identity{}, aliases: map[string][]string{}}
	for _, login := range []string{Owner, Writer, Triager, Reader, Stranger} {
		token := "ghp_" + randomHex(18)
		t.users[login] = token
		t.ids[token] = identity{Login: login}
		for range aliasCount {
			t.aliases[login] = append(t.aliases[login], "ghp_"+randomHex(18))
		}
	}
	return t, nil
}

func randomHex(n int) string {
	buf := make([]byte, n)
	_, _ = rand.Read(buf) // never fails
	return hex.EncodeToString(buf)
}

// seed is emulate's initial state: the users, their tokens and the Apps.
func (t *tokens) seed() map[string]any {
	toks, users := map[string]any{}, []any{}
	for login, list := range t.aliases {
		for _, token := range list {
			toks[token] = map[string]any{"login": login, "scopes": []string{"repo", "user"}}
		}
	}
	for _, login := range []string{Owner, Writer, Triager, Reader, Stranger} {
		users = append(users, map[string]any{"login": login, "name": login})
	}
	list := []any{}
	for _, a := range apps {
		m := map[string]any{"app_id": a.id, "slug": a.slug, "name": a.name, "private_key": t.pem(), "permissions": a.permissions,
			"installations": []any{map[string]any{"installation_id": a.installation, "account": Owner, "permissions": a.permissions}}}
		list = append(list, m)
	}
	return map[string]any{"tokens": toks, "github": map[string]any{"users": users, "apps": list}}
}

func (t *tokens) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(t.key)}))
}

// who returns whose token an Authorization header carries.
func (t *tokens) who(header string) (identity, bool) {
	_, token, _ := strings.Cut(header, " ")
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.ids[strings.TrimSpace(token)]
	return id, ok
}

// alias returns the Authorization header emulate is given for a client's.
func (t *tokens) alias(header string) string {
	id, ok := t.who(header)
	if !ok || id.App != 0 {
		return header
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn++
	return "Bearer " + t.aliases[id.Login][t.turn%aliasCount]
}

func (t *tokens) learn(token string, id identity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids[token] = id
}

func (t *tokens) jwt(app int, now time.Time) (string, error) {
	enc := func(v any) string {
		data, _ := json.Marshal(v) // maps of plain values
		return base64.RawURLEncoding.EncodeToString(data)
	}
	text := enc(map[string]any{"alg": "RS256", "typ": "JWT"}) + "." +
		enc(map[string]any{"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(9 * time.Minute).Unix(), "iss": fmt.Sprint(app)})
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, t.key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(sig), err
}

// AppPrivateKey returns the PEM of the Switchback App's private key.
func (b *Bench) AppPrivateKey() string { return b.tokens.pem() }

// UserToken returns the token of one of the bench's users.
func (b *Bench) UserToken(login string) string { return b.tokens.users[login] }

// AppToken returns an installation token of the App for one repository; its
// posts appear as the App's bot. A nil permissions means all the App has. With
// ActionsAppID it is what a workflow gets as GITHUB_TOKEN.
func (b *Bench) AppToken(tb testing.TB, app int, repo *Repo, permissions map[string]string) string {
	tb.Helper()
	jwt, err := b.tokens.jwt(app, time.Now())
	if err != nil {
		tb.Fatalf("bench: sign: %v", err)
	}
	req := map[string]any{"repositories": []string{repo.Name}}
	if permissions != nil {
		req["permissions"] = permissions
	}
	var out struct{ Token string }
	path := fmt.Sprintf("/app/installations/%d/access_tokens", appByID(app).installation)
	b.must(tb, jwt, "POST", path, req, &out)
	return out.Token
}
