#!/usr/bin/env bash
# Builds the container image with buildah, without a registry, and runs the program in it. A binary
# that is built here stands for the first stage of the Dockerfile, whose base image comes from a
# registry; the image itself is made from an empty one, as always.
#
# Usage: scripts/image.sh [VERSION]. It needs root, or a user namespace (`buildah unshare`).
set -euo pipefail
version="${1:-v0.0.0-local}"
cd "$(dirname "$0")/.."
work="$(mktemp -d)"
image() { buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"; }
trap 'image rm --all > /dev/null 2>&1 || true; rm -rf "$work"' EXIT
stage="$work/stage"
mkdir -p "$stage/etc/ssl/certs" "$stage/root-of-image"
cp /etc/ssl/certs/ca-certificates.crt "$stage/etc/ssl/certs/"
install -d -m 0700 "$stage/root-of-image/data"
install -d -m 1777 "$stage/root-of-image/tmp"
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$stage/switchback" ./cmd/switchback
image build --isolation chroot --format docker --build-context build="$stage" --tag switchback --file Dockerfile "$stage"
container="$(image from switchback)"
run() { image run --isolation chroot "$container" -- "$@"; }
run /switchback --version | grep -F "$version"
run /switchback config schema | diff - switchback.schema.json
echo '<testsuite name="a"><testcase name="b"/></testsuite>' | run /switchback parse - | grep -F '"tests":1' > /dev/null
echo "the image of $version runs"
