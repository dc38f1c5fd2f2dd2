# Registries and hosts that answer, but not with the package.
c status-404-npm <<'SH'
npm install --registry=http://404.registry.example left
SH
c status-401-npm <<'SH'
npm install --registry=http://401.registry.example left
SH
c status-403-npm <<'SH'
npm install --registry=http://403.registry.example @project/private
SH
c status-429-npm <<'SH'
npm install --registry=http://429.registry.example left
SH
c status-500-npm <<'SH'
npm install --registry=http://500.registry.example left
SH
c version-npm <<'SH'
npm install --registry=http://ok.registry.example left@9.9.9
SH
c integrity-npm <<'SH'
cat > package.json <<'X'
{"name":"app","version":"1.0.0","dependencies":{"left":"1.0.0"}}
X
npm install --registry=http://ok.registry.example > /dev/null
rm -rf node_modules ~/.npm
sed -i 's#http://ok.registry#http://other.registry#; s#"integrity": "sha[^"]*"#"integrity": "sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="#' package-lock.json
npm ci --registry=http://other.registry.example
SH
c status-500-yarn1 <<'SH'
echo '{"dependencies":{"left":"1.0.0"}}' > package.json
yarn install --non-interactive --registry http://500.registry.example
SH
c status-404-yarn4 <<'SH'
echo '{"dependencies":{"left":"1.0.0"}}' > package.json
touch yarn.lock
export YARN_NPM_REGISTRY_SERVER=http://404.registry.example YARN_UNSAFE_HTTP_WHITELIST="*" YARN_HTTP_RETRY=0
node $CACHE/node_modules/@yarnpkg/cli-dist/bin/yarn.js install
SH
c status-429-pnpm <<'SH'
echo '{"dependencies":{"left":"1.0.0"}}' > package.json
pnpm install --registry=http://429.registry.example --fetch-retries=1 --fetch-retry-mintimeout=10
SH
c status-404-pnpm <<'SH'
echo '{"dependencies":{"left":"1.0.0"}}' > package.json
pnpm install --registry=http://404.registry.example
SH
c status-404-pip <<'SH'
python3 -m pip install --index-url http://404.registry.example/simple --trusted-host 404.registry.example left
SH
c status-503-pip <<'SH'
python3 -m pip install --index-url http://503.registry.example/simple --trusted-host 503.registry.example left
SH
c status-401-pip <<'SH'
python3 -m pip install --no-input --index-url http://401.registry.example/simple --trusted-host 401.registry.example left
SH
c version-pip <<'SH'
python3 -m pip install --index-url http://ok.registry.example/simple --trusted-host ok.registry.example left==9.9
SH
c hash-pip <<'SH'
echo 'left==1.0.0 --hash=sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' > requirements.txt
python3 -m pip install --index-url http://ok.registry.example/simple --trusted-host ok.registry.example -r requirements.txt
SH
c status-404-apt <<'SH'
echo "deb [trusted=yes] http://404.registry.example/debian stable main" > sources.list
mkdir -p lists/partial
apt-get -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists -o APT::Sandbox::User=root update
SH
c hash-apt <<'SH'
echo "deb [trusted=yes] http://other.registry.example/debian stable main" > sources.list
mkdir -p lists/partial
apt-get -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists -o APT::Sandbox::User=root update
SH
c package-apt <<'SH'
apt-get install -y libfoo99-dev
SH
for code in 401 404 503; do
	sed "s/CODE/$code/" > pom-$code.xml <<'X'
<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>app</artifactId><version>1</version>
<pluginRepositories><pluginRepository><id>central</id><url>http://CODE.registry.example/maven2</url></pluginRepository></pluginRepositories></project>
X
	mkdir -p ~/.m2
	echo '<settings><mirrors><mirror><id>maven-default-http-blocker</id><mirrorOf>none</mirrorOf><url>http://0.0.0.0/</url></mirror></mirrors></settings>' > ~/.m2/settings.xml
	c status-$code-mvn <<SH
cp ../pom-$code.xml pom.xml
mvn -B -ntp verify
SH
done
c status-404-go <<'SH'
go mod init example.com/app 2> /dev/null
GOPROXY=http://404.registry.example go get example.org/lib@v1.2.3
SH
c status-500-go <<'SH'
go mod init example.com/app 2> /dev/null
GOPROXY=http://500.registry.example go get example.org/lib@v1.2.3
SH
c status-429-curl <<'SH'
curl -fsSL http://429.registry.example/repos/project/tool/releases/latest | python3 -c 'import json,sys; print(json.load(sys.stdin)["tag_name"])'
SH
c status-404-curl <<'SH'
curl -fL http://404.registry.example/tool-linux-amd64.tar.gz | tar xz
SH
c status-500-wget <<'SH'
wget --tries=2 http://500.registry.example/tool.tar.gz
SH
c status-500-cargo <<'SH'
cargo init -q --name app .
printf 'serde = { version = "1", registry = "mirror" }\n' >> Cargo.toml
mkdir .cargo
printf '[registries.mirror]\nindex = "sparse+http://500.registry.example/"\n' > .cargo/config.toml
cargo build
SH
c status-404-cargo <<'SH'
cargo init -q --name app .
printf 'sered = { version = "1", registry = "mirror" }\n' >> Cargo.toml
mkdir .cargo
printf '[registries.mirror]\nindex = "sparse+http://404.registry.example/"\n' > .cargo/config.toml
cargo build
SH
c status-404-gem <<'SH'
gem install rake --clear-sources --source http://404.registry.example
SH
c status-500-composer <<'SH'
echo '{"repositories":[{"type":"composer","url":"http://500.registry.example"},{"packagist":false}],"require":{"a/b":"1.0"},"config":{"secure-http":false}}' > composer.json
composer install --no-progress
SH
c status-503-git <<'SH'
git clone http://503.registry.example/project/lib.git
SH
c status-429-docker <<'SH'
export DOCKER_HOST=tcp://docker.example:2375
docker pull project/limited
SH
c denied-docker <<'SH'
export DOCKER_HOST=tcp://docker.example:2375
docker pull project/denied
SH
c unknown-docker <<'SH'
export DOCKER_HOST=tcp://docker.example:2375
docker pull project/unknown
SH
c full-docker <<'SH'
export DOCKER_HOST=tcp://docker.example:2375
docker pull project/full
SH
c timeout-docker <<'SH'
export DOCKER_HOST=tcp://docker.example:2375
docker pull project/timeout
SH
c hang-curl <<'SH'
curl --max-time 2 -fsS http://hang.registry.example/file
SH
c hang-wget <<'SH'
wget --timeout=1 --tries=2 --waitretry=0 http://hang.registry.example/file
SH
c hang-npm <<'SH'
npm install --registry=http://hang.registry.example --fetch-timeout=800 left
SH
c hang-pip <<'SH'
python3 -m pip --default-timeout=1 install --retries 1 --index-url http://hang.registry.example/simple --trusted-host hang.registry.example left
SH
c hang-node <<'SH'
node -e "fetch('http://hang.registry.example/', { signal: AbortSignal.timeout(500) })"
SH
