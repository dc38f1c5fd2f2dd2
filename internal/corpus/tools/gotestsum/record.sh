. "$LIB"
# The manifests and Go files of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
PATH=$CACHE:$PATH
[ -x "$CACHE/gotestsum" ] || CGO_ENABLED=0 GOBIN=$CACHE go install gotest.tools/gotestsum@v$VERSION || exit 1
export GOFLAGS=-buildvcs=false CGO_ENABLED=0
packages() { case $1 in mixed) echo ./mixed;; all) echo ./mixed ./green ./build ./panic ./empty;; green) echo ./green ./empty;; noisy) echo ./noisy;; esac; }
for case in mixed all green noisy; do
	shown "gotestsum -- $(packages $case)"
	for format in dots dots-v2 pkgname pkgname-and-test-fails testname testdox github-actions standard-verbose; do
		run $case.$format gotestsum --format $format -- $(packages $case)
	done
	FORCE_COLOR=1 run $case.pkgname.color gotestsum --format pkgname -- $(packages $case)
	gotestsum --format none --junitfile junit.xml -- $(packages $case) >/dev/null 2>&1
	LAST=$?
	report $case.junit junit.xml
done
