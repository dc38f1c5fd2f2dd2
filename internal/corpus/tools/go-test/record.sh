. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
export GOFLAGS=-buildvcs=false CGO_ENABLED=0
packages() { case $1 in mixed) echo ./mixed;; all) echo ./mixed ./green ./build ./panic ./empty;; green) echo ./green ./empty;; noisy) echo ./noisy;; timeout) echo -timeout 2s ./timeout;; seeds) echo ./fuzz;; esac; }
for case in mixed all green noisy timeout seeds; do
	shown "go test $(packages $case)"
	run $case.text go test $(packages $case)
	run $case.verbose go test -v $(packages $case)
	run $case.json go test -json $(packages $case)
done
