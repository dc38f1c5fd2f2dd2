# The machine: disk, memory, rights, ports, limits.
mkdir -p /home/runner/small
mount -t tmpfs -o size=256k tmpfs /home/runner/small
c disk-cp <<'SH'
head -c 1000000 /dev/zero > artifact.bin
cp artifact.bin /home/runner/small/
SH
c disk-python <<'SH'
python3 - <<'PY'
with open("/home/runner/small/cache.bin", "wb") as f:
    f.write(b"x" * 1_000_000)
PY
SH
c disk-node <<'SH'
node -e "require('fs').writeFileSync('/home/runner/small/cache.bin', Buffer.alloc(1e6))"
SH
c disk-gcc <<'SH'
printf 'static char big[1000000] = {1};\nint main(void) { return big[3]; }\n' > main.c
gcc -o /home/runner/small/app main.c
SH
c disk-tar <<'SH'
head -c 1000000 /dev/urandom > data
tar czf /home/runner/small/data.tgz data
SH
c disk-go <<'SH'
go mod init example.com/app 2> /dev/null
printf 'package main\n\nfunc main() { println("ok") }\n' > main.go
go build -o /home/runner/small/app .
SH
c disk-git <<'SH'
git init -q src
cd src
head -c 1000000 /dev/urandom > data
git add data
git -c user.name=a -c user.email=a@example.org commit -qm "Add data"
git clone -q --no-hardlinks . /home/runner/small/copy
SH
c disk-npm <<'SH'
mkdir -p big
echo '{"name":"big","version":"1.0.0"}' > big/package.json
head -c 1000000 /dev/urandom > big/data
(cd big && npm pack --silent > /dev/null)
cd /home/runner/small
npm install --cache=/home/runner/npm-cache $OLDPWD/big/big-1.0.0.tgz
SH
c disk-java <<'SH'
cat > Main.java <<'X'
public class Main { public static void main(String[] a) throws Exception { java.nio.file.Files.write(java.nio.file.Path.of("/home/runner/small/cache.bin"), new byte[1000000]); } }
X
java Main.java
SH
c disk-limit <<'SH'
ulimit -f 100
dd if=/dev/zero of=image.bin bs=1M count=5
SH
umount /home/runner/small
mkdir -p /home/runner/readonly
mount -t tmpfs -o ro tmpfs /home/runner/readonly
c readonly-sh <<'SH'
touch /home/runner/readonly/marker
SH
c readonly-npm <<'SH'
npm install --registry=http://ok.registry.example --prefix /home/runner/readonly left
SH
c readonly-python <<'SH'
python3 -c 'import os; os.makedirs("/home/runner/readonly/cache")'
SH
c readonly-git <<'SH'
git clone http://ok.registry.example/project/lib.git /home/runner/readonly/lib
SH
umount /home/runner/readonly

c permission-sh <<'SH'
printf '#!/bin/sh\necho built\n' > build.sh
./build.sh
SH
c permission-mkdir <<'SH'
unprivileged mkdir /opt/cache
SH
c permission-python <<'SH'
unprivileged /usr/bin/python3 -c 'open("/etc/app.conf", "w")'
SH
c permission-npm <<'SH'
unprivileged env HOME=/home/runner npm install -g --registry=http://ok.registry.example --cache=/tmp/corpus-full/none left
SH
c permission-pip <<'SH'
unprivileged env HOME=/nonexistent /usr/bin/python3 -m pip install --break-system-packages --no-user --no-cache-dir --index-url http://ok.registry.example/simple --trusted-host ok.registry.example left
SH
c permission-node-port <<'SH'
echo 1024 > /proc/sys/net/ipv4/ip_unprivileged_port_start
unprivileged node -e "require('http').createServer().listen(443, '127.0.0.2')"
SH
c permission-apt <<'SH'
unprivileged apt-get install -y jq
SH
c permission-go <<'SH'
go mod init example.com/app 2> /dev/null
printf 'package main\n\nfunc main() {}\n' > main.go
unprivileged env HOME=/nonexistent GOCACHE=/root/.cache/go-build go build -o /usr/local/bin/app .
SH
c managed-pip <<'SH'
/usr/bin/python3 -m pip install --index-url http://ok.registry.example/simple --trusted-host ok.registry.example left
SH
c missing-sh <<'SH'
echo "checking the schema"
jsonlint schema.json
SH
c missing-dash <<'SH'
sh -c 'kustomize build overlays/test'
SH
c missing-make <<'SH'
printf 'lint:\n\tprotolint lint .\n' > Makefile
make lint
SH
c missing-make-exec <<'SH'
printf 'gen: ; buf generate\n' > Makefile
make gen
SH
c missing-npm-script <<'SH'
echo '{"name":"app","version":"1.0.0","scripts":{"lint":"eslint ."}}' > package.json
npm run lint
SH
c missing-pnpm-script <<'SH'
echo '{"name":"app","version":"1.0.0","scripts":{"build":"tsup src"}}' > package.json
pnpm run build
SH
c missing-python <<'SH'
python3 - <<'PY'
import subprocess
subprocess.run(["ffmpeg", "-version"], check=True)
PY
SH
c missing-node <<'SH'
node -e "require('child_process').spawn('ffmpeg', ['-version'])"
SH
c missing-java <<'SH'
export JAVA_HOME=/usr/lib/jvm/java-25
mvn -B -version
SH
c missing-xargs <<'SH'
echo a.proto | xargs protoc --go_out=.
SH
c missing-go-generate <<'SH'
go mod init example.com/app 2> /dev/null
printf 'package main\n\n//go:generate mockgen -source=main.go\nfunc main() {}\n' > main.go
go generate ./...
SH
c missing-cc <<'SH'
printf 'all:\n\triscv64-linux-gnu-gcc -o app main.c\n' > Makefile
make
SH
c missing-module-python <<'SH'
python3 -c 'import numpy'
SH
c missing-module-python-m <<'SH'
python3 -m pytest -q
SH
c missing-module-node <<'SH'
echo "const express = require('express')" > server.js
node server.js
SH
c missing-module-perl <<'SH'
perl -e 'use JSON::MaybeXS; print "ok\n";'
SH
c missing-module-ruby <<'SH'
ruby -e 'require "nokogiri"'
SH
c missing-extension-php <<'SH'
echo '{"name":"a/app","require":{"ext-imagick":"*"},"repositories":[{"packagist":false}]}' > composer.json
composer install --no-progress
SH
c missing-header <<'SH'
printf '#include <libfoo/foo.h>\nint main(void) { return foo(); }\n' > main.c
gcc -o app main.c -lfoo
SH
c missing-library-link <<'SH'
printf 'int main(void) { return 0; }\n' > main.c
gcc -o app main.c -lfoo
SH
c missing-library <<'SH'
printf 'int foo(void) { return 0; }\n' > foo.c
printf 'int foo(void); int main(void) { return foo(); }\n' > main.c
gcc -shared -fPIC -o libfoo.so foo.c
gcc -o app main.c -L. -lfoo
rm libfoo.so
./app
SH
c missing-library-python <<'SH'
python3 -c 'import ctypes; ctypes.CDLL("libcudart.so.12")'
SH
c missing-browser <<'SH'
export NODE_PATH=$CACHE/node_modules
node -e "require('playwright-core').chromium.launch()"
SH
c interpreter-bad <<'SH'
printf '#!/usr/bin/python2\nprint "ok"\n' > tool
chmod +x tool
./tool
SH
c interpreter-env <<'SH'
printf '#!/usr/bin/env lua5.1\nprint("ok")\n' > tool
chmod +x tool
./tool
SH
c interpreter-crlf <<'SH'
printf '#!/usr/bin/env bash\r\necho ok\r\n' > tool
chmod +x tool
./tool
SH
c interpreter-exec <<'SH'
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\267\000\001\000\000\000' > tool
head -c 200 /dev/zero >> tool
chmod +x tool
./tool --version
SH
c secret-sh <<'SH'
: "${DEPLOY_TOKEN:?must be set}"
echo deploying
SH
c secret-set-u <<'SH'
set -u
curl -H "Authorization: Bearer $API_TOKEN" http://ok.registry.example/file
SH
c secret-python <<'SH'
cat > deploy.py <<'PY'
import os

TOKEN = os.environ["DEPLOY_TOKEN"]
PY
python3 deploy.py
SH
c secret-node <<'SH'
cat > deploy.js <<'X'
const token = process.env.DEPLOY_TOKEN
if (!token) {
  throw new Error('DEPLOY_TOKEN is not set; add it to the secrets of the repository')
}
X
node deploy.js
SH
c secret-npm-publish <<'SH'
echo '{"name":"@project/app","version":"1.0.0"}' > package.json
npm publish --registry=http://ok.registry.example
SH
c secret-docker-login <<'SH'
export DOCKER_HOST=tcp://docker.example:2375
echo "$DOCKER_PASSWORD" | docker login -u "$DOCKER_USER" --password-stdin docker.example
SH
c memory-node <<'SH'
node --max-old-space-size=30 -e "const a = []; for (;;) a.push(new Array(1000).fill('x'))"
SH
c memory-python <<'SH'
ulimit -v 200000
python3 -c 'x = "x" * 1_000_000_000'
SH
c memory-java <<'SH'
cat > Main.java <<'X'
import java.util.*;
public class Main { public static void main(String[] a) { List<long[]> l = new ArrayList<>(); for (;;) l.add(new long[100000]); } }
X
javac Main.java
java -Xmx16m Main
SH
c memory-java-reserve <<'SH'
ulimit -v 1000000
java -Xmx8g -version
SH
c memory-go <<'SH'
cat > main.go <<'X'
package main

func main() {
	var all [][]byte
	for {
		b := make([]byte, 10<<20)
		for i := range b {
			b[i] = 1
		}
		all = append(all, b)
	}
}
X
go build -o app main.go
(ulimit -v 300000; ./app)
SH
c memory-gcc <<'SH'
printf '#include <regex>\n#include <map>\nstd::map<int, std::regex> m;\n' > main.cc
ulimit -v 60000
g++ -c main.cc
SH
c killed-sh <<'SH'
echo "Running the simulation"
python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)'
SH
c killed-make <<'SH'
printf 'test:\n\tpython3 -c "import os; os.kill(os.getpid(), 9)"\n' > Makefile
make test
SH
c killed-gcc <<'SH'
printf '#!/bin/sh\nkill -9 $$\n' > cc1
chmod +x cc1
printf 'int main(void) { return 0; }\n' > main.c
gcc -B. -c main.c
SH
c killed-npm <<'SH'
echo '{"name":"app","version":"1.0.0","scripts":{"build":"node -e \"process.kill(process.pid, 9)\""}}' > package.json
npm run build
SH
c fork-limit <<'SH'
unprivileged bash -c 'ulimit -u 1; (echo a | cat); make --version'
SH
c port-node <<'SH'
python3 -m http.server 3000 --bind 127.0.0.1 > /dev/null 2>&1 &
sleep 1
trap 'kill %1' EXIT
node -e "require('http').createServer().listen(3000, '127.0.0.1')"
SH
c port-python <<'SH'
python3 -m http.server 3001 --bind 127.0.0.1 > /dev/null 2>&1 &
sleep 1
trap 'kill %1' EXIT
python3 -m http.server 3001 --bind 127.0.0.1
SH
c port-go <<'SH'
python3 -m http.server 3002 --bind 127.0.0.1 > /dev/null 2>&1 &
sleep 1
trap 'kill %1' EXIT
cat > main.go <<'X'
package main

import (
	"log"
	"net/http"
)

func main() { log.Fatal(http.ListenAndServe("127.0.0.1:3002", nil)) }
X
go run main.go
SH
c port-java <<'SH'
python3 -m http.server 3003 --bind 127.0.0.1 > /dev/null 2>&1 &
sleep 1
trap 'kill %1' EXIT
cat > Main.java <<'X'
public class Main { public static void main(String[] a) throws Exception { new java.net.ServerSocket(3003, 1, java.net.InetAddress.getByName("127.0.0.1")); } }
X
java Main.java
SH
c port-php <<'SH'
python3 -m http.server 3004 --bind 127.0.0.1 > /dev/null 2>&1 &
sleep 1
trap 'kill %1' EXIT
php -S 127.0.0.1:3004
SH
c port-ruby <<'SH'
python3 -m http.server 3005 --bind 127.0.0.1 > /dev/null 2>&1 &
sleep 1
trap 'kill %1' EXIT
ruby -rsocket -e 'TCPServer.new("127.0.0.1", 3005)'
SH
c engine-npm <<'SH'
echo '{"name":"app","version":"1.0.0","engines":{"node":">=99"}}' > package.json
npm install --engine-strict
SH
c engine-yarn1 <<'SH'
echo '{"name":"app","version":"1.0.0","engines":{"node":">=99"}}' > package.json
yarn install
SH
c engine-pnpm <<'SH'
echo '{"name":"app","version":"1.0.0","engines":{"node":">=99"}}' > package.json
pnpm install --config.engine-strict=true
SH
c engine-pip <<'SH'
printf '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.99"\n' > pyproject.toml
python3 -m pip install --no-build-isolation .
SH
c engine-go <<'SH'
printf 'module example.com/app\n\ngo 1.99\n' > go.mod
printf 'package main\n\nfunc main() {}\n' > main.go
go build ./...
SH
c engine-cargo <<'SH'
cargo init -q --name app .
sed -i 's/^edition.*/edition = "2021"\nrust-version = "1.999"/' Cargo.toml
cargo build
SH
c engine-java <<'SH'
printf 'public class Main { public static void main(String[] a) {} }\n' > Main.java
javac Main.java
printf '\000\000\000\107' | dd of=Main.class bs=1 seek=4 conv=notrunc 2> /dev/null
java Main
SH
c engine-javac <<'SH'
printf 'public class Main { }\n' > Main.java
javac --release 99 Main.java
SH
c engine-composer <<'SH'
echo '{"name":"a/app","require":{"php":">=99"},"repositories":[{"packagist":false}]}' > composer.json
composer install --no-progress
SH
c engine-bundle <<'SH'
printf 'source "http://ok.registry.example"\nruby "9.9.9"\n' > Gemfile
bundle install
SH
c files-python <<'SH'
ulimit -n 20
python3 -c 'l = [open("/dev/null") for _ in range(100)]'
SH
c files-node <<'SH'
ulimit -n 40
node -e "const fs = require('fs'); const l = []; for (let i = 0; i < 100; i++) l.push(fs.openSync('/dev/null'))"
SH
c files-go <<'SH'
cat > main.go <<'X'
package main

import (
	"log"
	"os"
	"syscall"
)

func main() {
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 20, Max: 20})
	var all []*os.File
	for {
		f, err := os.Open("/dev/null")
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, f)
	}
}
X
go run main.go
SH
c files-java <<'SH'
cat > Main.java <<'X'
import java.io.*; import java.util.*;
public class Main { public static void main(String[] a) throws Exception { List<InputStream> l = new ArrayList<>(); for (;;) l.add(new FileInputStream("/dev/null")); } }
X
javac Main.java
ulimit -n 60
java -XX:-MaxFDLimit Main
SH
c locale-python <<'SH'
export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0
printf 'print("gr\\u00fcn")\n' > show.py
python3 show.py
SH
c locale-ruby <<'SH'
export LC_ALL=C
printf 'name: gr\303\274n\n' > config.yml
ruby -e 'puts File.read("config.yml").split(/ü/)'
SH
c locale-postgres <<'SH'
setpriv --reuid 65534 --regid 65534 --clear-groups /usr/lib/postgresql/15/bin/initdb -D /tmp/corpus-full/db --locale=de_DE.UTF-8
SH
c time-limit <<'SH'
echo "Running the integration tests"
timeout 1 sleep 20
SH
c time-limit-verbose <<'SH'
timeout --verbose 1 bash -c 'while sleep 0.3; do echo "waiting for the server"; done'
SH
c time-wait <<'SH'
for i in 1 2 3; do
  curl -fsS http://localhost:8080/health && exit 0
  echo "Waiting for the server ($i/3)"
  sleep 0.2
done
echo "Timed out waiting for http://localhost:8080/health"
exit 1
SH
c apt-lock <<'SH'
python3 - <<'PY' &
import fcntl, time
f = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(f, fcntl.LOCK_EX)
time.sleep(6)
PY
sleep 1
apt-get install -y jq
SH
c apt-interrupted <<'SH'
mkdir -p /home/runner/dpkg
cp -r /var/lib/dpkg/. /home/runner/dpkg
mount --bind /home/runner/dpkg /var/lib/dpkg
printf 'Package: jq\n' > /var/lib/dpkg/updates/0001
trap 'umount /var/lib/dpkg' EXIT
apt-get install -y --reinstall hostname
SH
