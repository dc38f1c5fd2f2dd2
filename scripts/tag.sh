#!/usr/bin/env bash
# Commits the digests of a release onto the commit it was built from, and tags that commit. It pushes
# nothing. Run again for the same release it changes nothing.
# Usage: scripts/tag.sh v1.2.3 dist/checksums.txt
set -euo pipefail
version="${1:?usage: scripts/tag.sh v1.2.3 CHECKSUMS}"
sums="$(realpath "${2:?usage: scripts/tag.sh v1.2.3 CHECKSUMS}")"
cd "$(dirname "$0")/.."
grep -qxF "version $version" "$sums" || { echo "$sums is not of $version" >&2 && exit 1; }
if git rev-parse --quiet --verify "refs/tags/$version" > /dev/null; then
  git show "$version:scripts/checksums.txt" | cmp - "$sums" && exit 0
  echo "$version is tagged with other digests; release another version" >&2
  exit 1
fi
cp "$sums" scripts/checksums.txt
git add scripts/checksums.txt
git -c user.name=github-actions -c user.email=41898282+github-actions[bot]@users.noreply.github.com commit --quiet --message "Release $version"
git tag "$version"
