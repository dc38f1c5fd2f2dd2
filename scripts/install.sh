#!/usr/bin/env bash
# Installs the switchback binary on the runner and sets the step's output "path" to its path.
# action.yml calls it on Linux, macOS and Windows (Git Bash).
#
# In a checkout of the action (uses: ./) it builds the binary from source with the installed Go.
# Otherwise it downloads the release and compares its SHA-256 with the release's checksums.txt.
set -euo pipefail

out="${RUNNER_TEMP:?RUNNER_TEMP is not set}/switchback-bin"
mkdir -p "$out"
exe=""
case "$(uname -s)" in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  MINGW* | MSYS* | CYGWIN*) os=windows exe=.exe ;;
  *) echo "::error title=Switchback::no release for $(uname -s); build it from source" && exit 1 ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) arch=amd64 ;;
  arm64 | aarch64) arch=arm64 ;;
  *) echo "::error title=Switchback::no release for $(uname -m); build it from source" && exit 1 ;;
esac
bin="$out/switchback$exe"

version="${WANTED:-}"
[ -n "$version" ] || version="${ACTION_REF:-}"

if [ -z "$version" ]; then
  command -v go > /dev/null || { echo "::error title=Switchback::building from a checkout needs Go; add actions/setup-go, or set the input version" && exit 1; }
  (cd "$ACTION_PATH" && CGO_ENABLED=0 go build -trimpath -o "$bin" ./cmd/switchback)
else
  case "$version" in
    v[0-9]*.[0-9]*.[0-9]*) ;;
    *) echo "::error title=Switchback::$version is no release; use the action at a tag such as v1.2.3, or set the input version" && exit 1 ;;
  esac
  file="switchback_${version#v}_${os}_${arch}.tar.gz"
  base="https://github.com/switchback-ci/switchback/releases/download/$version"
  # Use a relative path: a Windows path begins with a drive, which tar takes for a host, and contains
  # backslashes, which sha256sum escapes.
  cd "$out"
  curl --fail --silent --show-error --location --retry 3 --output "$file" "$base/$file"
  curl --fail --silent --show-error --location --retry 3 --output checksums.txt "$base/checksums.txt"
  want="$(awk -v f="$file" '$2 == f || $2 == "*" f {print $1}' checksums.txt)"
  if command -v sha256sum > /dev/null; then
    have="$(sha256sum "$file" | awk '{print $1}')"
  else
    have="$(shasum -a 256 "$file" | awk '{print $1}')"
  fi
  if [ -z "$want" ] || [ "$want" != "$have" ]; then
    echo "::error title=Switchback::the checksum of $file does not match the release's; nothing was run"
    exit 1
  fi
  tar -xzf "$file"
fi
echo "path=$bin" >> "$GITHUB_OUTPUT"
