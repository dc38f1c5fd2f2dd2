# Certificates that cannot be trusted, and no TLS at all.
c self-signed-curl <<'SH'
curl -fsS https://self-signed.registry.example/file
SH
c self-signed-wget <<'SH'
wget --tries=1 https://self-signed.registry.example/file
SH
c self-signed-npm <<'SH'
npm install --registry=https://self-signed.registry.example left
SH
c self-signed-pip <<'SH'
python3 -m pip install --index-url https://self-signed.registry.example/simple left
SH
c self-signed-git <<'SH'
git clone https://self-signed.registry.example/project/lib.git
SH
c self-signed-go <<'SH'
go mod init example.com/app 2> /dev/null
GOPROXY=https://self-signed.registry.example go get example.org/lib@v1.2.3
SH
c self-signed-java <<'SH'
cat > Main.java <<'X'
public class Main { public static void main(String[] a) throws Exception { new java.net.URL("https://self-signed.registry.example/file").openStream().close(); } }
X
java Main.java
SH
c self-signed-mvn <<'SH'
cat > pom.xml <<'X'
<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>app</artifactId><version>1</version>
<pluginRepositories><pluginRepository><id>central</id><url>https://self-signed.registry.example/maven2</url></pluginRepository></pluginRepositories></project>
X
mvn -B -ntp verify
SH
c self-signed-cargo <<'SH'
cargo init -q --name app .
printf 'lib = { git = "https://self-signed.registry.example/project/lib.git" }\n' >> Cargo.toml
cargo build
SH
c self-signed-composer <<'SH'
echo '{"repositories":[{"type":"composer","url":"https://self-signed.registry.example"},{"packagist":false}],"require":{"a/b":"1.0"}}' > composer.json
composer install --no-progress
SH
c self-signed-gem <<'SH'
gem install rake --clear-sources --source https://self-signed.registry.example
SH
c expired-curl <<'SH'
curl -fsS https://expired.registry.example/file
SH
c expired-npm <<'SH'
npm install --registry=https://expired.registry.example left
SH
c expired-go <<'SH'
go mod init example.com/app 2> /dev/null
GOPROXY=https://expired.registry.example go get example.org/lib@v1.2.3
SH
c expired-git <<'SH'
git clone https://expired.registry.example/project/lib.git
SH
c expired-node <<'SH'
node -e "fetch('https://expired.registry.example/file').then(r => r.text())"
SH
c expired-apt <<'SH'
echo "deb [trusted=yes] https://expired.registry.example/debian stable main" > sources.list
mkdir -p lists/partial
apt-get -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists -o APT::Update::Error-Mode=any -o APT::Sandbox::User=root update
SH
c wrong-host-curl <<'SH'
curl -fsS https://wrong-host.registry.example/file
SH
c wrong-host-npm <<'SH'
npm install --registry=https://wrong-host.registry.example left
SH
c wrong-host-python <<'SH'
python3 -c 'import urllib.request; urllib.request.urlopen("https://wrong-host.registry.example/file")'
SH
c wrong-host-go <<'SH'
go mod init example.com/app 2> /dev/null
GOPROXY=https://wrong-host.registry.example go get example.org/lib@v1.2.3
SH
c clock-curl <<'SH'
curl -fsS https://future.registry.example/file
SH
c clock-node <<'SH'
node -e "fetch('https://future.registry.example/file').then(r => r.text())"
SH
c clock-git <<'SH'
git clone https://future.registry.example/project/lib.git
SH
c plain-curl <<'SH'
curl -fsS https://localhost:80/file
SH
