#!/usr/bin/env bash
# Builds a release into dist/: an archive with a static binary for each platform, packages for
# Linux, a Homebrew formula, their digests, and the software bill of materials. The same source and
# the same Go give the same bytes on every machine and in every directory, so that anybody can build
# a release again and compare it:
#
#   git checkout v1.2.3 && scripts/release.sh v1.2.3 && diff dist/checksums.txt scripts/checksums.txt
#
# Usage: scripts/release.sh v1.2.3 [OS/ARCH ...]
# LEVEL is how much gzip compresses the archives, 9 for a release.
set -euo pipefail
version="${1:?usage: scripts/release.sh v1.2.3 [OS/ARCH ...]}"
shift
semver='^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$'
[[ "$version" =~ $semver ]] || { echo "$version is no version; write e.g. v1.2.3" >&2 && exit 2; }
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# The reusable workflow calls the action by its version. GitHub lets no workflow push a change of a
# workflow, so the version stands there before the release begins.
calls="$(grep -ohE 'switchback-ci/switchback/ports@[^ ]+' .github/workflows/ports.yml cmd/switchback/ports.go | tr -d '"' | sort -u)"
if [ "$calls" != "switchback-ci/switchback/ports@$version" ]; then
  echo "ports.yml and cmd/switchback/ports.go use $(echo "$calls" | tr '\n' ' ')and this is $version; change them first" >&2
  exit 1
fi

# Settings of the machine that change what is built.
export CGO_ENABLED=0 GOFLAGS='' GOEXPERIMENT='' GOAMD64=v1 GOARM64=v8.0 LC_ALL=C
umask 022
rm -rf dist && mkdir dist
binaries=()
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
build() { # OS ARCH FILE
  GOOS="$1" GOARCH="$2" go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$3" ./cmd/switchback
}
for platform in "$@"; do
  os="${platform%/*}" arch="${platform#*/}" exe=""
  [ "$os" = windows ] && exe=.exe
  mkdir "$work/$os-$arch"
  build "$os" "$arch" "$work/$os-$arch/switchback$exe"
  binaries+=("$work/$os-$arch/switchback$exe")
done

# The program writes its own manual pages and completions.
host="$work/$(go env GOHOSTOS)-$(go env GOHOSTARCH)/switchback"
[ -x "$host" ] || { host="$work/switchback" && build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$host"; }
mkdir "$work/completions"
SOURCE_DATE_EPOCH=1767225600 "$host" man "$work/man"
"$host" completion bash > "$work/completions/switchback.bash"
"$host" completion zsh > "$work/completions/_switchback"
"$host" completion fish > "$work/completions/switchback.fish"
"$host" completion powershell > "$work/completions/switchback.ps1"

for platform in "$@"; do
  os="${platform%/*}" arch="${platform#*/}"
  dir="$work/$os-$arch"
  cp -r LICENSE README.md CHANGELOG.md "$work/completions" "$work/man" "$dir/"
  chmod -R u=rwX,go=rX "$dir"
  tar -C "$dir" --format=ustar --owner=0 --group=0 --numeric-owner --sort=name --mtime='UTC 2026-01-01' -cf - . | gzip -"${LEVEL:-9}"n > "dist/switchback_${version#v}_${os}_${arch}.tar.gz"
done
scripts/packages.sh "$version" "$work" dist
go run -trimpath ./internal/sbom "$version" "${binaries[@]}" > "dist/switchback_${version#v}.cdx.json"
{
  echo "# The release that this commit is, and the SHA-256 of its files. scripts/install.sh verifies them."
  echo "# Built with $(go env GOVERSION)."
  echo "version $version"
  (cd dist && sha256sum -- *.tar.gz *.cdx.json switchback*.deb switchback*.rpm switchback*.apk switchback.rb)
} > "$work/checksums.txt"
mv "$work/checksums.txt" dist/checksums.txt
