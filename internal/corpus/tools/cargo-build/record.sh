. "$LIB"
# The manifests of project/ end in .in: they belong to no module of this repository.
find . -name "*.in" -exec sh -c 'mv "$1" "${1%.in}"' _ {} \;
[ "$(rustc --version | cut -d' ' -f2)" = "$VERSION" ] || { echo "this is not rustc $VERSION" >&2; exit 1; }
export CARGO_TARGET_DIR=$OUTDIR/../target CARGO_NET_OFFLINE=true
for case in pass broken syntax warn; do
	shown "cargo build --features $case"
	flags="--features $case"
	[ $case = pass ] && flags= && shown "cargo build"
	run $case.default cargo build $flags
	touch src/*.rs
	run $case.default.color cargo build $flags --color always
	touch src/*.rs
	run $case.json cargo build $flags --message-format json
	touch src/*.rs
done
shown "cargo clippy --features lint"
run clippy-warn.default cargo clippy --features lint
touch src/*.rs
shown "cargo clippy --features lint -- -D warnings"
run clippy.default cargo clippy --features lint -- -D warnings
shown "cargo fmt --check"
run fmt.default cargo fmt --check
true
