# Failures of the environment, made for real, and what only looks like one. The network is a
# namespace without a way out, in which ../../hosts plays registries that fail.
. "$LIB"
if [ -z "${INSIDE:-}" ]; then
	for p in composer bundler php-cli default-mysql-client redis-tools postgresql-15 python3-pip iproute2 libfaketime; do
		dpkg -s $p > /dev/null 2>&1 || apt-get install -y --no-install-recommends $p > /dev/null || exit 1
	done
	npm_install yarn@1.22.22 @yarnpkg/cli-dist@4.12.0 pnpm@10.26.0 pg@8.16.3 ioredis@5.8.2 playwright-core@1.57.0
	rm node_modules
	mkdir -p "$CACHE/yarn1"
	printf '#!/bin/sh\nexec node %s/node_modules/yarn/bin/yarn.js "$@"\n' "$CACHE" > "$CACHE/yarn1/yarn"
	chmod 755 "$CACHE/yarn1/yarn"
	(cd "$REPO" && go build -o "$CACHE/hosts" ./internal/corpus/hosts) || exit 1
	INSIDE=1 exec unshare --mount --net bash "$0" "$@"
fi

# Nothing that is written below these directories stays.
for d in usr var etc opt root; do
	mkdir -p "${OUTDIR%/out}/over/$d"
	mount -t tmpfs tmpfs "${OUTDIR%/out}/over/$d"
	mkdir "${OUTDIR%/out}/over/$d/upper" "${OUTDIR%/out}/over/$d/work"
	mount -t overlay overlay -o "lowerdir=/$d,upperdir=${OUTDIR%/out}/over/$d/upper,workdir=${OUTDIR%/out}/over/$d/work" "/$d" || exit 1
done
ip link set lo up
mount -t tmpfs tmpfs /home
export HOME=/home/runner STEPS=/home/runner/work/_temp
mkdir -p $STEPS /home/runner/work/project /tmp/corpus-full
chmod -R 755 /home/runner
cp -r . /home/runner/work/project/project
cd /home/runner/work/project/project || exit 1
chmod 777 . "$STEPS"
mkdir /home/runner/etc
{
	echo "127.0.0.1 localhost"
	for mode in 401 403 404 429 500 502 503 hang reset cut retry other self-signed expired future wrong-host plain ok; do
		echo "127.0.0.1 $mode.registry.example"
	done
	echo "127.0.0.1 docker.example db.example ok.example"
} > /home/runner/etc/hosts
mount --bind /home/runner/etc/hosts /etc/hosts
echo "nameserver 127.0.0.1
options timeout:1 attempts:1" > /home/runner/etc/resolv.conf
mount --bind /home/runner/etc/resolv.conf /etc/resolv.conf
"$CACHE/hosts" /home/runner/etc 2> /dev/null &
HOSTS=$!
trap 'kill $HOSTS' EXIT
until [ -e /home/runner/etc/ready ]; do sleep 0.1; done
CA=/home/runner/etc/ca.pem
export SSL_CERT_FILE=$CA CURL_CA_BUNDLE=$CA GIT_SSL_CAINFO=$CA NODE_EXTRA_CA_CERTS=$CA PIP_CERT=$CA REQUESTS_CA_BUNDLE=$CA CARGO_HTTP_CAINFO=$CA
unset SSL_CERT_DIR NIX_SSL_CERT_FILE PIP_FIND_LINKS
export PATH=$CACHE/yarn1:$CACHE/node_modules/.bin:$PATH
export npm_config_fetch_retries=1 npm_config_fetch_retry_mintimeout=10 npm_config_fetch_retry_maxtimeout=20 npm_config_update_notifier=false npm_config_audit=false
export GOCACHE=$CACHE/gocache GOMODCACHE=/home/runner/go/pkg/mod GOFLAGS=-mod=mod GOSUMDB=off GOTOOLCHAIN=local
export RUSTUP_HOME=${RUSTUP_HOME:-/root/.rustup} CARGO_HOME=/home/runner/.cargo CARGO_NET_RETRY=1
export COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_NO_INTERACTION=1 PIP_ROOT_USER_ACTION=ignore YARN_ENABLE_TELEMETRY=0 GIT_TERMINAL_PROMPT=0
export PIP_RETRIES=1 MAVEN_OPTS=-Duser.home=/home/runner
LIMIT=40

# c NAME < SCRIPT records a case in a directory of its own.
c() {
	wanted "$1" || return 0
	mkdir -p "$1"
	cp -r /home/runner/work/project/project/common/. "$1" 2> /dev/null
	(cd "$1" && step "$1.step")
}
# unprivileged runs a command as a user without rights.
mkdir /home/runner/bin
cat > /home/runner/bin/unprivileged <<'SH'
#!/bin/sh
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
SH
chmod 755 /home/runner/bin/unprivileged
export PATH=$PATH:/home/runner/bin
trap 'kill $HOSTS; rm -rf /tmp/corpus-full' EXIT

for part in cases/*.sh; do
	. "$part"
done
