# Names that do not resolve, connections that are refused, reset or cut.
c dns-curl <<'SH'
curl -fsSL https://downloads.example/tool.tar.gz -o tool.tar.gz
tar xzf tool.tar.gz
SH
c dns-wget <<'SH'
wget -q --tries=1 https://downloads.example/tool.tar.gz || wget --tries=1 https://downloads.example/tool.tar.gz
SH
c dns-npm <<'SH'
npm install left
SH
c dns-yarn1 <<'SH'
echo '{"dependencies":{"left":"1.0.0"}}' > package.json
yarn install --non-interactive --network-timeout 1000
SH
c dns-yarn4 <<'SH'
echo '{"dependencies":{"left":"1.0.0"},"packageManager":"yarn@4.12.0"}' > package.json
touch yarn.lock
node $CACHE/node_modules/@yarnpkg/cli-dist/bin/yarn.js install
SH
c dns-pnpm <<'SH'
echo '{"dependencies":{"left":"1.0.0"}}' > package.json
pnpm install
SH
c dns-pip <<'SH'
python3 -m pip install --index-url https://pypi.example/simple left
SH
c dns-apt <<'SH'
apt-get update
apt-get install -y left-tool
SH
c dns-mvn <<'SH'
cat > pom.xml <<'X'
<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>app</artifactId><version>1</version></project>
X
mvn -B -ntp verify
SH
c dns-cargo <<'SH'
cargo init -q --name app .
printf 'serde = "1"\n' >> Cargo.toml
cargo build
SH
c dns-go <<'SH'
go mod init example.com/app 2> /dev/null
GOPROXY=https://proxy.example go get example.org/lib@v1.2.3
SH
c dns-git <<'SH'
git clone https://git.example/project/lib.git
SH
c dns-gem <<'SH'
gem install rake --source https://gems.example
SH
c dns-bundle <<'SH'
printf 'source "https://gems.example"\ngem "rake"\n' > Gemfile
bundle install --retry 0
SH
c dns-composer <<'SH'
echo '{"require":{"monolog/monolog":"^3.0"}}' > composer.json
composer install --no-progress
SH
c dns-python <<'SH'
python3 - <<'PY'
import urllib.request
print("loading the model index")
urllib.request.urlopen("https://models.example/index.json")
PY
SH
c dns-node <<'SH'
node -e "
console.log('Fetching the schema')
fetch('https://schema.example/v1.json').then(r => r.json())
"
SH
c dns-again-ssh <<'SH'
git clone git@git.again.example:project/lib.git
SH
c refused-curl <<'SH'
curl --retry 2 --retry-delay 0 --retry-connrefused -fsS http://localhost:9200/_cluster/health
SH
c refused-wget <<'SH'
wget --tries=2 --waitretry=0 --retry-connrefused http://localhost:9200/
SH
c refused-npm <<'SH'
npm install --registry=http://localhost:4873 left
SH
c refused-pip <<'SH'
python3 -m pip install --index-url http://localhost:3141/simple left
SH
c refused-go <<'SH'
go mod init example.com/app 2> /dev/null
GOPROXY=http://localhost:3000 go get example.org/lib@v1.2.3
SH
c refused-git <<'SH'
git clone http://localhost:3000/project/lib.git
SH
c refused-java <<'SH'
cat > Main.java <<'X'
public class Main { public static void main(String[] a) throws Exception { System.out.println("connecting to the broker"); new java.net.Socket("localhost", 5672).close(); } }
X
java Main.java
SH
c refused-composer <<'SH'
echo '{"repositories":[{"type":"composer","url":"http://localhost:8081"},{"packagist":false}],"require":{"a/b":"1.0"},"config":{"secure-http":false}}' > composer.json
composer install --no-progress
SH
c unreachable-curl <<'SH'
curl -sS --max-time 5 http://198.51.100.7/health
SH
c reset-curl <<'SH'
curl -fsS http://reset.registry.example/file -o file
SH
c reset-npm <<'SH'
npm install --registry=http://reset.registry.example left
SH
c cut-curl <<'SH'
curl -fsS http://cut.registry.example/file -o file
SH
c cut-npm <<'SH'
npm install --registry=http://cut.registry.example left
SH
c reset-git <<'SH'
git clone http://reset.registry.example/project/lib.git
SH
c proxy-curl <<'SH'
export https_proxy=http://proxy.example:3128
curl -fsS https://ok.registry.example/file
SH
