// Package e2e is the end-to-end bench: a stateful GitHub, a validator of every
// request against GitHub's own description, and a runner, all on this machine.
//
//	client → recorder → prism → gaps → emulate
//
// The recorder records requests, injects faults and holds requests at kill
// points. Prism validates them. The gaps server answers the routes emulate
// lacks and corrects what it answers differently from GitHub.
package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/internal/freeport"
)

// Logins of the users every bench has. Owner owns the repositories made by
// NewRepo; what the others may do is set per repository with Repo.Grant.
const (
	Owner    = "octo"
	Writer   = "writer"
	Triager  = "triager"
	Reader   = "reader"
	Stranger = "stranger"
)

// Apps every bench has, installed on Owner, with their bots' logins.
const (
	ActionsAppID    = 15368
	ActionsBot      = "github-actions[bot]"
	SwitchbackAppID = 424242
	SwitchbackBot   = "switchback[bot]"
	WebhookSecret   = "bench webhook secret"
)

// Bench is a running set of servers. One is shared by all tests of a process.
type Bench struct {
	// URL is the API's address, to be used as GITHUB_API_URL. It also takes
	// requests below /api/v3, as GitHub Enterprise Server does.
	URL string
	// Root is the directory of the module under test.
	Root string
	// EmulateStart and PrismStart say how long the two took to answer.
	EmulateStart, PrismStart time.Duration

	dir      string
	rec      *recorder
	gaps     *gaps
	tokens   *tokens
	children []*child
	servers  []*http.Server
	mu       sync.Mutex
	repos    int
	blobs    sync.Map // SHA of a blob → its text
	ends     []func() // of what outlives the test that began it
}

var shared struct {
	once  sync.Once
	bench *Bench
	err   error
}

// Start returns the bench of this process and starts it on first use. It fails
// the test if a tool is missing or a server does not start; it never skips.
func Start(tb testing.TB) *Bench {
	tb.Helper()
	shared.once.Do(func() { shared.bench, shared.err = start(true) })
	if shared.err != nil {
		tb.Fatalf("bench: %v", shared.err)
	}
	return shared.bench
}

// StartAlone starts a bench of the test's own, which ends with the test: for an
// App that looks into all repositories it finds. It has no validator.
func StartAlone(tb testing.TB) *Bench {
	tb.Helper()
	b, err := start(false)
	if err != nil {
		tb.Fatalf("bench: %v", err)
	}
	tb.Cleanup(b.stop)
	return b
}

// Main runs the tests of m, stops the bench and returns the exit code.
func Main(m *testing.M) int {
	debug.SetGCPercent(400) // the bench makes much garbage and keeps little
	// Tests at once share few servers. By default all but two connections to each are closed again.
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	defer func() {
		if shared.bench != nil {
			shared.bench.stop()
		}
	}()
	return m.Run()
}

func start(validated bool) (b *Bench, err error) {
	b = &Bench{}
	defer func() {
		if err != nil {
			b.stop()
		}
	}()
	if b.Root, err = moduleRoot(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "switchback-bench-"); err != nil {
		return nil, err
	}
	if b.tokens, err = newTokens(); err != nil {
		return nil, err
	}
	return b, b.serve(validated)
}

// serve starts the servers, upstream last, and waits until they answer.
func (b *Bench) serve(validated bool) error {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, front.Close())
	}
	emulate, prism, checks := freePort(), freePort(), ""
	if validated {
		checks = "http://127.0.0.1:" + strconv.Itoa(prism)
	}
	b.URL = "http://" + front.Addr().String()
	b.gaps = newGaps(b.URL, "http://127.0.0.1:"+strconv.Itoa(emulate), b.tokens)
	b.rec = newRecorder(checks, b.gaps, b.tokens)
	b.listen(front, b.rec)
	b.listen(back, b.gaps)
	b.gaps.webhook = "http://" + back.Addr().String() + "/_bench/webhook"
	if err := b.startEmulate(emulate); err != nil {
		return err
	}
	if !validated {
		return nil
	}
	return b.startPrism(prism, "http://"+back.Addr().String())
}

func (b *Bench) listen(l net.Listener, h http.Handler) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second}
	b.servers = append(b.servers, s)
	go func() { _ = s.Serve(l) }() // ends with stop
}

func (b *Bench) startEmulate(port int) error {
	seed := filepath.Join(b.dir, "seed.json")
	data, err := json.Marshal(b.tokens.seed())
	if err != nil {
		return err
	}
	if err := os.WriteFile(seed, data, 0o600); err != nil {
		return err
	}
	b.EmulateStart, err = b.startNode("emulate", port, "emulate/dist/index.js", "start", "--service", "github",
		"--port", strconv.Itoa(port), "--base-url", b.URL, "--seed", seed)
	return err
}

func (b *Bench) startPrism(port int, upstream string) (err error) {
	doc := filepath.Join(b.dir, "openapi.json")
	orig, err := b.npm("@octokit/openapi/generated/api.github.com.json")
	if err != nil {
		return err
	}
	if err := requestsFile(orig, doc); err != nil {
		return err
	}
	b.PrismStart, err = b.startNode("prism", port, "@stoplight/prism-cli/dist/index.js", "proxy",
		"--verboseLevel", "fatal", "-h", "127.0.0.1", "-p", strconv.Itoa(port), doc, upstream)
	return err
}

// startNode runs an npm package's script and waits until its port answers.
func (b *Bench) startNode(name string, port int, script string, args ...string) (time.Duration, error) {
	node, err := b.npm("node/bin/node")
	if err != nil {
		return 0, err
	}
	path, err := b.npm(script)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	c, err := spawn(filepath.Join(b.dir, name+".log"), node, append([]string{path}, args...)...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	b.children = append(b.children, c)
	err = c.await("127.0.0.1:"+strconv.Itoa(port), 2*time.Minute)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return time.Since(began), nil
}

// npm returns the path of a file of an installed npm package.
func (b *Bench) npm(file string) (string, error) {
	p := filepath.Join(b.Root, "e2e", "node_modules", filepath.FromSlash(file))
	if _, err := os.Stat(p); err != nil {
		return "", fmt.Errorf("%s is missing: run `make e2e-tools` (npm ci in e2e/)", file)
	}
	return p, nil
}

// Tool returns the path of a Go tool of tools/go.mod: act, actionlint or
// staticcheck. It fails the test when the tool is not built.
func (b *Bench) Tool(tb testing.TB, name string) string {
	tb.Helper()
	p := filepath.Join(b.Root, "bin", name)
	if _, err := os.Stat(p); err != nil {
		tb.Fatalf("bin/%s is missing: run `make e2e-tools` (see tools/README.md)", name)
	}
	return p
}

func (b *Bench) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, s := range b.servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
	}
	for _, end := range b.ends {
		end()
	}
	for _, c := range b.children {
		c.kill()
	}
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}

func freePort() int {
	port, _ := freeport.Find() // the child says what is wrong with port 0
	return port
}

// moduleRoot walks up from the working directory to the module's root.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "e2e", "package.json")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no e2e/package.json above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}
