#!/usr/bin/env bash
# Installs the switchback binary on the runner and sets the step's output "path" to its path. The
# action.yml of each action here calls it, on Linux, macOS and Windows (Git Bash).
#
# In a checkout of the action (uses: ./) it builds the binary from source with the installed Go.
# Otherwise it downloads the binary of the release that this commit is. scripts/checksums.txt, which
# the release workflow commits before it tags that commit, names the release and the SHA-256 of each
# platform's archive. So the action may be pinned by version, by major version or by full commit SHA,
# and whoever replaces a file of the release changes nothing: the digests stand in the commit.
set -euo pipefail

fail() {
  echo "::error title=Switchback::$1"
  exit 1
}

out="${RUNNER_TEMP:?RUNNER_TEMP is not set}/switchback-bin"
mkdir -p "$out"
exe=""
case "$(uname -s)" in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  MINGW* | MSYS* | CYGWIN*) os=windows exe=.exe ;;
  *) fail "there is no release for $(uname -s); use a runner with Linux, macOS or Windows" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) arch=amd64 ;;
  arm64 | aarch64) arch=arm64 ;;
  *) fail "there is no release for $(uname -m); use a runner with x86-64 or ARM64" ;;
esac
bin="$out/switchback$exe"
ref="${ACTION_REF:-}"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

if [ -z "$ref" ]; then
  command -v go > /dev/null || fail "building from a checkout needs Go; add actions/setup-go before this step, or use the action at a release"
  (cd "$root" && CGO_ENABLED=0 go build -trimpath -o "$bin" ./cmd/switchback)
  echo "path=$bin" >> "$GITHUB_OUTPUT"
  exit 0
fi

releases="a release's tag (v1.2.3), its major version (v1) or the full SHA of a tagged commit"
sums="$root/scripts/checksums.txt"
[ -f "$sums" ] || fail "this commit of the action ($ref) is no release: it holds no digests to verify a binary with; use the action at $releases"
version="$(awk '$1 == "version" {sub(/\r$/, "", $2); print $2; exit}' "$sums")"
# The version becomes part of a URL and of a file's name.
semver='^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$'
[[ "$version" =~ $semver ]] || fail "scripts/checksums.txt of the action names no version; use the action at $releases"

file="switchback_${version#v}_${os}_${arch}.tar.gz"
want="$(awk -v f="$file" '{sub(/\r$/, "")} $2 == f {print $1}' "$sums")"
digest='^[0-9a-f]{64}$'
[[ "$want" =~ $digest ]] || fail "scripts/checksums.txt of the action holds no digest of $file; use a runner of another platform, or another release"

# Use a relative path: a Windows path begins with a drive, which tar takes for a host, and contains
# backslashes, which sha256sum escapes.
cd "$out"
rm -f "$file"
curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --retry 3 --output "$file" \
  "https://github.com/switchback-ci/switchback/releases/download/$version/$file" ||
  fail "$file of release $version could not be downloaded; run the job again, and see https://www.githubstatus.com if that does not help"
if command -v sha256sum > /dev/null; then
  have="$(sha256sum "$file" | awk '{print $1}')"
else
  have="$(shasum -a 256 "$file" | awk '{print $1}')"
fi
if [ "$want" != "$have" ]; then
  rm -f "$file"
  fail "$file is not the file that $version was released with, so nothing was run: its SHA-256 is $have, and the action's commit says $want; run the job again, and report it as SECURITY.md says if it stays so"
fi
tar -xzf "$file"
echo "path=$bin" >> "$GITHUB_OUTPUT"
