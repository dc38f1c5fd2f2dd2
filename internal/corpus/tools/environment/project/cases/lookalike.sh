# What prints such words and is none: runs that end well (pass-…), and failures of the project (own-…).
c pass-curl-retry <<'SH'
curl --retry 5 --retry-delay 0 -fsS http://retry.registry.example/file
echo "downloaded"
SH
c pass-wget-retry <<'SH'
wget --tries=5 --retry-on-http-error=503 --waitretry=0 http://retry.registry.example/file
SH
c pass-pip-retry <<'SH'
python3 -m pip install --retries 5 --target lib --no-cache-dir --index-url http://retry.registry.example/simple --trusted-host retry.registry.example left
SH
c pass-npm-engine <<'SH'
echo '{"name":"app","version":"1.0.0","engines":{"node":">=99"},"dependencies":{"left":"1.0.0"}}' > package.json
npm install --registry=http://ok.registry.example
SH
c pass-npm-optional <<'SH'
echo '{"name":"app","version":"1.0.0","optionalDependencies":{"gone":"1.0.0"},"dependencies":{"left":"1.0.0"}}' > package.json
npm install --registry=http://ok.registry.example
SH
c pass-mirror <<'SH'
curl -fsS https://self-signed.registry.example/file -o file || curl -fsS http://ok.registry.example/file -o file
ls file
SH
c pass-tolerated-docker <<'SH'
docker ps || echo "no Docker here, the container tests are skipped"
echo "done"
SH
c pass-tolerated-missing <<'SH'
shellcheck-none --version || true
command -v nvidia-smi || echo "nvidia-smi: command not found, using the CPU"
echo "ok"
SH
c pass-apt-update <<'SH'
echo "deb [trusted=yes] http://ok.registry.example/debian stable main
deb [trusted=yes] http://404.mirror.example/debian stable main" > sources.list
mkdir -p lists/partial
apt-get -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists -o APT::Sandbox::User=root update
echo "installed"
SH
c pass-clock-make <<'SH'
printf 'all: in\n\t@echo built\n' > Makefile
touch -d '+2 days' in
make
SH
c pass-locale-perl <<'SH'
LC_ALL=de_DE.UTF-8 perl -e 'print "ok\n"'
SH
c pass-locale-bash <<'SH'
LC_ALL=de_DE.UTF-8 bash -c 'echo ok'
SH
c pass-git-fetch <<'SH'
git init -q .
git fetch https://404.registry.example/project/cache.git main || echo "no cache yet"
echo "built without the cache"
SH
c pass-pip-warning <<'SH'
python3 -m pip install --target lib --no-cache-dir --find-links /nonexistent --index-url http://ok.registry.example/simple --trusted-host ok.registry.example left
SH
c pass-wait <<'SH'
(sleep 1; exec python3 -m http.server 3010 --bind 127.0.0.1 > /dev/null 2>&1) &
trap 'kill %1' EXIT
until curl -fsS -o /dev/null http://127.0.0.1:3010/; do sleep 0.4; done
echo "the server is up"
SH
c pass-node-test <<'SH'
cat > net.test.js <<'X'
const test = require('node:test')
const assert = require('node:assert')
const net = require('node:net')

test('reports a connection that is refused', async () => {
  const err = await new Promise((resolve) => net.connect(1, '127.0.0.1').on('error', resolve))
  console.error(err)
  assert.strictEqual(err.code, 'ECONNREFUSED')
})
test('reports a full disk', () => {
  const err = new Error("ENOSPC: no space left on device, write")
  console.error(err)
  assert.match(err.message, /no space left/)
})
X
node --test --test-reporter=spec
SH
c pass-unittest <<'SH'
cat > test_client.py <<'PY'
import logging
import socket
import unittest


class ClientTest(unittest.TestCase):
    def test_refused(self):
        with self.assertRaises(ConnectionRefusedError):
            try:
                socket.create_connection(("127.0.0.1", 1))
            except OSError:
                logging.exception("cannot connect")
                raise

    def test_no_such_host(self):
        with self.assertRaises(socket.gaierror) as caught:
            socket.create_connection(("db.invalid", 5432))
        print("ERROR:", caught.exception)

    def test_memory(self):
        with self.assertRaises(MemoryError):
            logging.error("MemoryError: cannot allocate memory")
            raise MemoryError
PY
python3 -m unittest -v
SH
c pass-go-test <<'SH'
printf 'module example.com/app\n\ngo 1.24\n' > go.mod
cat > app_test.go <<'X'
package app

import (
	"errors"
	"log"
	"net"
	"syscall"
	"testing"
)

func TestRefused(t *testing.T) {
	_, err := net.Dial("tcp", "127.0.0.1:1")
	log.Print("ERROR ", err)
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatal(err)
	}
}

func TestDiskFull(t *testing.T) {
	t.Logf("error: %v", syscall.ENOSPC)
	log.Printf("fatal error: %v", syscall.ENOMEM)
}
X
go test -v ./...
SH
c pass-cargo-test <<'SH'
cargo init -q --lib --name app .
cat > src/lib.rs <<'X'
#[cfg(test)]
mod tests {
    #[test]
    fn refused() {
        let err = std::net::TcpStream::connect("127.0.0.1:1").unwrap_err();
        eprintln!("error: {err}");
        assert_eq!(err.kind(), std::io::ErrorKind::ConnectionRefused);
    }
}
X
cargo test -- --nocapture
SH
c pass-retry-step <<'SH'
attempt() { [ -e tried ] && echo "published" && return 0; touch tried; curl -fsS http://503.registry.example/file; }
attempt || { echo "Attempt 1 failed, retrying in 1 s"; sleep 1; attempt; }
SH
c own-node-econnrefused <<'SH'
cat > server.test.js <<'X'
const test = require('node:test')
const assert = require('node:assert')

test('the server answers on the port that it prints', async () => {
  const port = 3999
  let said = ''
  try {
    await fetch(`http://127.0.0.1:${port}/`)
  } catch (e) {
    said = e.cause.message
  }
  assert.strictEqual(said, '', `expected the server to listen, got: ${said}`)
})
test('adds', () => assert.strictEqual(1 + 1, 2))
X
node --test --test-reporter=spec
SH
c own-unittest-message <<'SH'
cat > test_errors.py <<'PY'
import unittest


def explain(code):
    return {28: "disk full", 111: "connection reset"}.get(code, "unknown")


class ExplainTest(unittest.TestCase):
    def test_refused(self):
        self.assertEqual(explain(111), "Connection refused")

    def test_disk(self):
        self.assertEqual(explain(28), "No space left on device")
PY
python3 -m unittest
SH
c own-unittest-status <<'SH'
cat > test_api.py <<'PY'
import unittest


class Api(unittest.TestCase):
    def test_limit(self):
        status = 200
        self.assertEqual(status, 429, "429 Too Many Requests is expected past the limit")
PY
python3 -m unittest -v
SH
c own-go-want <<'SH'
printf 'module example.com/app\n\ngo 1.24\n' > go.mod
cat > app_test.go <<'X'
package app

import "testing"

func lookup(name string) string { return "lookup " + name + ": i/o timeout" }

func TestLookup(t *testing.T) {
	if got, want := lookup("db"), "lookup db: no such host"; got != want {
		t.Errorf("lookup = %q, want %q", got, want)
	}
}
X
go test ./...
SH
c own-rust-refused <<'SH'
cargo init -q --lib --name app .
cat > src/lib.rs <<'X'
pub fn port() -> u16 {
    1
}

#[cfg(test)]
mod tests {
    #[test]
    fn server_listens() {
        std::net::TcpStream::connect(("127.0.0.1", super::port())).unwrap();
    }

    #[test]
    fn has_a_port() {
        assert_eq!(super::port(), 8080, "connection refused on any other");
    }
}
X
cargo test
SH
c own-after-retry <<'SH'
curl --retry 5 --retry-delay 0 -fsS http://retry.registry.example/file
cat > test_sum.py <<'PY'
import unittest


class Sum(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(sum([1, 2]), 4)
PY
python3 -m unittest
SH
c own-after-warnings <<'SH'
echo '{"name":"app","version":"1.0.0","engines":{"node":">=99"},"dependencies":{"left":"1.0.0"}}' > package.json
npm install --registry=http://ok.registry.example
cat > sum.test.js <<'X'
const test = require('node:test')
const assert = require('node:assert')
test('adds', () => assert.strictEqual(1 + 1, 3))
X
node --test --test-reporter=spec
SH
c own-gcc-name <<'SH'
cat > timeout.c <<'X'
#include <errno.h>

int no_space_left_on_device(void) { return ENOSPCE; }
X
gcc -c timeout.c
SH
c own-gcc-link <<'SH'
printf 'int connection_refused(void);\nint main(void) { return connection_refused(); }\n' > main.c
gcc -o app main.c
SH
c own-javac <<'SH'
printf 'public class Main { void run() { throw new OutOfMemoryErrors("Java heap space"); } }\n' > Main.java
javac Main.java
SH
c own-python-syntax <<'SH'
printf 'def connect(host)\n    raise ConnectionRefusedError("connection refused")\n' > client.py
python3 client.py
SH
c own-perl-test <<'SH'
mkdir t
cat > t/net.t <<'X'
use Test::More tests => 2;
is("Connection reset by peer", "Connection refused", "the message of errno 111");
ok(1, "no space left on device is survived");
X
prove t
SH
c own-php-assert <<'SH'
cat > check.php <<'X'
<?php
$status = 'permission denied';
if ($status !== 'forbidden') {
    throw new UnexpectedValueException("expected forbidden, got: $status");
}
X
php check.php
SH
c own-go-vet <<'SH'
printf 'module example.com/app\n\ngo 1.24\n' > go.mod
printf 'package app\n\nimport "fmt"\n\nfunc Full() { fmt.Printf("no space left on device: %%d\\n", "disk") }\n' > app.go
go vet ./...
SH
c own-go-import <<'SH'
printf 'module example.com/app\n\ngo 1.24\n' > go.mod
printf 'package main\n\nimport "example.com/app/internal/dial"\n\nfunc main() { dial.Timeout() }\n' > main.go
GOFLAGS= go build ./...
SH
c own-node-import <<'SH'
echo "require('./lib/connection-refused')" > index.js
node index.js
SH
c own-python-import <<'SH'
mkdir app
touch app/__init__.py
printf 'from app.errors import DiskFull\n' > app/main.py
python3 -m app.main
SH
c own-shell-exit <<'SH'
printf '#!/bin/sh\necho "checking 3 links"\necho "docs/index.md:4: broken link: http://localhost:8080/timeout"\nexit 1\n' > check-links
chmod +x check-links
./check-links
SH
c own-node-assert-enoent <<'SH'
cat > load.js <<'X'
const assert = require('node:assert')
assert.deepStrictEqual({ code: 'EACCES' }, { code: 'ENOENT' })
X
node load.js
SH
c own-migration <<'SH'
cat > test_pool.py <<'PY'
import unittest


class Pool(unittest.TestCase):
    def test_exhausted(self):
        got = ["too many connections", "too many connections"]
        self.assertEqual(len(got), 1, "the pool may say it once")
PY
python3 -m unittest
SH
