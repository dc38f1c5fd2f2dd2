package steps

import "testing"

func TestRoleOf(t *testing.T) {
	for command, want := range map[string]Role{
		"git clone --depth=50 https://github.com/a/b.git a/b": Fetch,
		"git status":                                  Unknown,
		"git push origin HEAD":                        Deploy,
		"curl -sSL https://x | bash":                  Fetch,
		"sudo apt-get update -qq":                     Install,
		"sudo -E apt-get install -y jq":               Install,
		"pip install -r r.txt":                        Install,
		"python -m pip install --upgrade pip":         Install,
		"npm ci":                                      Install,
		"npm install && npm test":                     Test,
		"npm run lint -- --fix":                       Lint,
		"npm run build":                               Compile,
		"npm run test:unit":                           Test,
		"yarn --frozen-lockfile":                      Unknown,
		"yarn install --frozen-lockfile":              Install,
		"yarn lint":                                   Lint,
		"pnpm -r run build":                           Compile,
		"npx eslint .":                                Lint,
		"npx jest --ci":                               Test,
		"pytest -q":                                   Test,
		"python -m pytest -x tests":                   Test,
		"python3.12 -m unittest discover":             Test,
		"python setup.py test":                        Test,
		"python setup.py sdist":                       Package,
		"python manage.py test app":                   Test,
		"coverage run -m pytest":                      Test,
		"coverage report --fail-under=90":             Lint,
		"poetry run mypy src":                         Compile,
		"FOO=1 BAR=x go test ./...":                   Test,
		"go vet ./...":                                Lint,
		"go build ./cmd/x":                            Compile,
		"go mod download":                             Fetch,
		"cargo clippy -- -D warnings":                 Lint,
		"cargo test --workspace":                      Test,
		"mvn -B clean verify":                         Test,
		"mvn -B package -DskipTests":                  Package,
		"mvn install -DskipTests=true":                Package,
		"./mvnw test":                                 Test,
		"./gradlew build":                             Test,
		"./gradlew :app:compileJava":                  Compile,
		"make":                                        Compile,
		"make -j4":                                    Compile,
		"make lint":                                   Lint,
		"make check":                                  Test,
		"tox -e flake8":                               Lint,
		"tox -e py39":                                 Test,
		"docker build -t x .":                         Package,
		"docker push x":                               Deploy,
		"docker pull x":                               Fetch,
		"bazel test //...":                            Test,
		"ctest --output-on-failure":                   Test,
		"cmake --build build":                         Compile,
		"./scripts/run_tests.sh":                      Test,
		"bash ci/lint.sh":                             Lint,
		"/usr/bin/gcc -c a.c":                         Compile,
		"timeout 600 pytest":                          Test,
		"bundle exec rspec":                           Test,
		"bundle exec rubocop":                         Lint,
		"actions/checkout@v4":                         Fetch,
		"actions/setup-node@v4":                       Install,
		"actions/upload-artifact@v4":                  Unknown,
		"dorny/test-reporter@v1":                      Unknown,
		"EnricoMi/publish-unit-test-result-action@v2": Unknown,
		"./gradlew :a:check -x javadoc":               Test,
		"twine upload dist/*":                         Deploy,
		"echo hello":                                  Unknown,
		"set -e\nnpm ci\nnpm test\n":                  Test,
		"# npm test":                                  Unknown,
		"just test":                                   Test,
		"if ! gofmt -l .; then exit 1; fi":            Lint,
		"bash -c 'npm test'":                          Test,
		"dotnet test --no-build":                      Test,
		"mix test --cover":                            Test,
		"node scripts/build.js":                       Compile,
	} {
		if got := RoleOf(command); got != want {
			t.Errorf("RoleOf(%q) = %q, want %q", command, got, want)
		}
	}
	for name, want := range map[string]Role{
		"compileTestJava": Compile, "test-compile": Compile, "compileJava": Compile, "Set up Python": Install, "Run unit tests": Test, "Lint": Lint,
		"Build and test": Test, "py39": Unknown, "flake8": Lint, "Deploy to production": Deploy, "Publish": Deploy, "": Unknown,
	} {
		if got := roleOfName(name); got != want {
			t.Errorf("roleOfName(%q) = %q, want %q", name, got, want)
		}
	}
}
