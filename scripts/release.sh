#!/usr/bin/env bash
# Builds a release into dist/: an archive with a static binary for each platform, and their checksums.
# Usage: scripts/release.sh v1.2.3
set -euo pipefail
version="${1:?usage: scripts/release.sh v1.2.3}"
case "$version" in v[0-9]*.[0-9]*.[0-9]*) ;; *) echo "$version is no version; write e.g. v1.2.3" >&2 && exit 2 ;; esac
cd "$(dirname "$0")/.."
rm -rf dist && mkdir dist
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os="${platform%/*}" arch="${platform#*/}" exe=""
  [ "$os" = windows ] && exe=.exe
  dir="$(mktemp -d)"
  CGO_ENABLED=0 GOOS="$os" GOARCH="$arch" go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$dir/switchback$exe" ./cmd/switchback
  cp LICENSE README.md "$dir/"
  tar -C "$dir" --owner=0 --group=0 --numeric-owner --sort=name --mtime='UTC 2026-01-01' -czf "dist/switchback_${version#v}_${os}_${arch}.tar.gz" .
  rm -rf "$dir"
done
cd dist && sha256sum -- *.tar.gz > checksums.txt
