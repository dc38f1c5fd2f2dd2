# Lock files that do not fit what they lock.
c lock-npm <<'SH'
echo '{"name":"app","version":"1.0.0","dependencies":{"left":"1.0.0"}}' > package.json
echo '{"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"app","version":"1.0.0"}}}' > package-lock.json
npm ci --registry=http://ok.registry.example
SH
c lock-missing-npm <<'SH'
echo '{"name":"app","version":"1.0.0"}' > package.json
npm ci
SH
c lock-yarn1 <<'SH'
echo '{"name":"app","version":"1.0.0","dependencies":{"left":"1.0.0"}}' > package.json
echo '# yarn lockfile v1' > yarn.lock
yarn install --frozen-lockfile --registry http://ok.registry.example
SH
c lock-yarn4 <<'SH'
echo '{"name":"app","dependencies":{"left":"1.0.0"}}' > package.json
touch yarn.lock
export YARN_NPM_REGISTRY_SERVER=http://ok.registry.example YARN_UNSAFE_HTTP_WHITELIST="*"
node $CACHE/node_modules/@yarnpkg/cli-dist/bin/yarn.js install --immutable
SH
c lock-pnpm <<'SH'
echo '{"name":"app","dependencies":{"left":"1.0.0"}}' > package.json
printf "lockfileVersion: '9.0'\nsettings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\nimporters:\n  .: {}\n" > pnpm-lock.yaml
pnpm install --frozen-lockfile
SH
c lock-cargo <<'SH'
cargo init -q --name app .
mkdir lib
cargo init -q --lib --name lib lib
printf 'lib = { path = "lib" }\n' >> Cargo.toml
printf 'version = 4\n\n[[package]]\nname = "app"\nversion = "0.1.0"\n' > Cargo.lock
cargo build --locked
SH
c lock-go <<'SH'
printf 'module example.com/app\n\ngo 1.24\n' > go.mod
printf 'package main\n\nimport "example.org/lib"\n\nfunc main() { lib.Run() }\n' > main.go
GOFLAGS=-mod=readonly GOPROXY=off go build ./...
SH
c lock-sum-go <<'SH'
printf 'module example.com/app\n\ngo 1.24\n\nrequire example.org/lib v1.2.3\n' > go.mod
printf 'package main\n\nimport "example.org/lib"\n\nfunc main() { lib.Run() }\n' > main.go
GOFLAGS=-mod=readonly GOPROXY=off go build ./...
SH
c lock-vendor-go <<'SH'
printf 'module example.com/app\n\ngo 1.24\n\nrequire example.org/lib v1.2.3\n' > go.mod
printf 'package main\n\nfunc main() {}\n' > main.go
mkdir vendor
printf '# example.org/lib v1.0.0\n## explicit\n' > vendor/modules.txt
GOFLAGS= go build ./...
SH
c lock-bundle <<'SH'
printf 'source "http://ok.registry.example"\ngem "rake"\n' > Gemfile
printf 'GEM\n  remote: http://ok.registry.example/\n  specs:\n\nPLATFORMS\n  x86_64-linux\n\nDEPENDENCIES\n\nBUNDLED WITH\n   2.3.15\n' > Gemfile.lock
bundle config set --local frozen true
bundle install
SH
c lock-composer <<'SH'
echo '{"name":"a/app","require":{"a/b":"^2.0"},"repositories":[{"packagist":false}]}' > composer.json
cat > composer.lock <<'X'
{"content-hash":"0123456789abcdef0123456789abcdef","packages":[],"packages-dev":[],"aliases":[],"minimum-stability":"stable","stability-flags":[],"prefer-stable":false,"prefer-lowest":false,"platform":[],"platform-dev":[]}
X
composer install --no-progress
SH
