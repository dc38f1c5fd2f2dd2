. "$LIB"
# The manifests of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
[ "$(go env GOVERSION)" = "go$VERSION" ] || { echo "this is not Go $VERSION" >&2; exit 1; }
for f in */*.txt; do mv "$f" "${f%.txt}"; done
unset GOFLAGS
for case in pass fail syntax; do
	shown "go build ./$case"
	run $case.build go build ./$case
	shown "go vet ./$case"
	run $case.vet go vet ./$case
done
shown "go vet ./vet"
run vet.vet go vet ./vet
report_of vet.json go vet -json ./vet
shown "go build ./..."
run all.build go build ./...
shown "staticcheck ./lint"
(cd "$REPO/tools" && GOFLAGS=-trimpath CGO_ENABLED=0 go build -o "$CACHE/staticcheck" honnef.co/go/tools/cmd/staticcheck) || exit 1
run lint.staticcheck "$CACHE/staticcheck" -checks all ./lint
report_of lint.staticcheck-json "$CACHE/staticcheck" -checks all -f json ./lint
shown "test -z \"\$(gofmt -l ./format)\""
run format.gofmt gofmt -d ./format
shown "gofmt -e ./syntax"
run syntax.gofmt gofmt -e -l ./syntax
