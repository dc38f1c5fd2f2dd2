# Git, Docker and databases.
c git-auth <<'SH'
git clone https://401.registry.example/project/private.git
SH
c git-403-push <<'SH'
git init -q .
git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m "Start"
git push https://403.registry.example/project/lib.git HEAD:main
SH
c git-404 <<'SH'
git clone https://404.registry.example/project/moved.git
SH
c git-ref <<'SH'
git init -q origin
git -C origin -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m "Start"
git init -q work
cd work
git fetch --depth=1 ../origin refs/heads/feature
SH
c git-sha <<'SH'
git init -q origin
git -C origin -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m "Start"
git clone -q origin work
cd work
git checkout --force 4b825dc642cb6eb9a060e54bf8d69288fbee4904
SH
c git-shallow-diff <<'SH'
git init -q -b main origin
cd origin
git config user.name a
git config user.email a@example.org
git commit -q --allow-empty -m "Start"
git checkout -q -b feature
git commit -q --allow-empty -m "Work"
cd ..
git clone -q --depth=1 --branch feature file://$PWD/origin work
cd work
git diff --name-only origin/main...HEAD
SH
c git-describe <<'SH'
git init -q .
git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m "Start"
VERSION=$(git describe --tags --always=false 2> /dev/null || git describe --tags)
echo "version $VERSION"
SH
c git-owner <<'SH'
git init -q .
chown 65534 . .git
git status
SH
c git-none <<'SH'
cd /
git rev-parse HEAD
SH
c git-lfs <<'SH'
git init -q .
git lfs pull
SH
c git-lock <<'SH'
git init -q .
touch .git/index.lock file
git add file
SH
c git-submodule <<'SH'
git init -q .
printf '[submodule "lib"]\n\tpath = lib\n\turl = https://404.registry.example/project/lib.git\n' > .gitmodules
git update-index --add --cacheinfo 160000,4b825dc642cb6eb9a060e54bf8d69288fbee4904,lib
git submodule update --init --recursive
SH
c git-identity <<'SH'
git init -q .
git commit --allow-empty -m "Release"
SH
c git-ssh-key <<'SH'
export GIT_SSH_COMMAND="ssh -o BatchMode=yes"
git clone ssh://git@localhost:2222/project/lib.git
SH
c docker-absent-build <<'SH'
printf 'FROM scratch\n' > Dockerfile
docker build -t app .
SH
c docker-absent-run <<'SH'
docker run --rm hello-world
SH
c docker-absent-ps <<'SH'
docker ps
SH
c docker-denied <<'SH'
python3 - <<'PY' &
import os, socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("/home/runner/docker.sock")
os.chmod("/home/runner/docker.sock", 0o600)
s.listen()
time.sleep(5)
PY
sleep 1
unprivileged env HOME=/nonexistent DOCKER_HOST=unix:///home/runner/docker.sock docker ps
SH
c db-psql <<'SH'
psql -h localhost -U postgres -c 'select 1'
SH
c db-redis <<'SH'
redis-cli -h localhost ping
redis-cli -h localhost -e set a 1
SH
c db-mysql <<'SH'
mysql -h 127.0.0.1 -u root -e 'select 1'
SH
c db-pg-node <<'SH'
export NODE_PATH=$CACHE/node_modules
node -e "
const { Client } = require('pg')
const c = new Client({ connectionString: 'postgres://app@localhost:5432/app' })
c.connect().then(() => console.log('migrated'))
"
SH
c db-redis-node <<'SH'
export NODE_PATH=$CACHE/node_modules
node -e "
const Redis = require('ioredis')
const r = new Redis({ maxRetriesPerRequest: 1, retryStrategy: n => n < 3 ? 10 : null })
r.ping().then(console.log)
"
SH
c db-python <<'SH'
python3 - <<'PY'
import socket
s = socket.create_connection(("localhost", 5432), timeout=3)
PY
SH
c db-go <<'SH'
cat > main.go <<'X'
package main

import (
	"log"
	"net"
)

func main() {
	if _, err := net.Dial("tcp", "localhost:5432"); err != nil {
		log.Fatalf("cannot connect to the database: %v", err)
	}
}
X
go run main.go
SH
c db-name <<'SH'
psql -h postgres -U postgres -c 'select 1'
SH
PGBIN=/usr/lib/postgresql/15/bin
mkdir -p /home/runner/pg
echo secret > /home/runner/pg/password
chown -R 65534 /home/runner/pg
if unprivileged $PGBIN/initdb -D /home/runner/pg/data -U admin -A scram-sha-256 --pwfile=/home/runner/pg/password > /dev/null 2>&1; then
	unprivileged $PGBIN/pg_ctl -D /home/runner/pg/data -o "-p 5433 -k /home/runner/pg -c max_connections=3 -c superuser_reserved_connections=2" -w start > /dev/null 2>&1
	c db-password <<'SH'
PGPASSWORD=wrong psql -h localhost -p 5433 -U admin -d postgres -c 'select 1'
SH
	c db-missing <<'SH'
PGPASSWORD=secret psql -h localhost -p 5433 -U admin -d app_test -c 'select 1'
SH
	c db-role <<'SH'
psql -w -h localhost -p 5433 -U app -d postgres -c 'select 1'
SH
	c pass-db-wait <<'SH'
until PGPASSWORD=secret psql -h localhost -p 5433 -U admin -d postgres -c 'select 1' || [ "${n:=0}" -ge 1 ]; do n=1; done
for port in 5432 5432 5433; do
  if PGPASSWORD=secret psql -h localhost -p $port -U admin -d postgres -c 'select 1'; then break; fi
  echo "The database is not ready yet"
done
PGPASSWORD=secret psql -h localhost -p 5433 -U admin -d postgres -c 'create table a (b int)'
echo "migrated"
SH
	unprivileged $PGBIN/pg_ctl -D /home/runner/pg/data -m immediate stop > /dev/null 2>&1
fi
