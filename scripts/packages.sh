#!/usr/bin/env bash
# Packages a release for Linux as deb, rpm and apk, and writes its Homebrew formula. scripts/release.sh
# calls it with the folder of each platform's files, OS-ARCH, and the folder with the archives.
#
# Usage: scripts/packages.sh v1.2.3 WORK DIST
# NFPM is the path of nfpm; without it the one of tools/go.mod is built.
set -euo pipefail
version="${1:?usage: scripts/packages.sh v1.2.3 WORK DIST}" work="$(realpath "$2")" dist="$(realpath "$3")"
cd "$(dirname "$0")/.."
nfpm="${NFPM:-}"
if [ -z "$nfpm" ]; then
  nfpm="$work/nfpm"
  (cd tools && go build -trimpath -o "$nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm)
fi
export VERSION="$version" ARCH DIR
for DIR in "$work"/linux-*; do
  ARCH="${DIR##*-}"
  packaged="$work/packaged-$ARCH"
  cp -r "$DIR" "$packaged"
  gzip -9n "$packaged"/man/*.1 # as the policies of distributions want them
  find "$packaged" -exec touch --no-dereference --date '2026-01-01 UTC' {} +
  DIR="$packaged"
  for packager in deb rpm apk; do
    "$nfpm" package --config scripts/nfpm.yaml --packager "$packager" --target "$dist/" > /dev/null
  done
done

# install prints the formula's lines for the archive of one platform, if there is one.
install() {
  local file="switchback_${version#v}_$2.tar.gz"
  [ -f "$dist/$file" ] || return 0
  cat << RUBY
    on_$1 do
      url "https://github.com/switchback-ci/switchback/releases/download/$version/$file"
      sha256 "$(sha256sum "$dist/$file" | cut -d ' ' -f 1)"
    end
RUBY
}
cat > "$dist/switchback.rb" << RUBY
# Written by scripts/packages.sh for the release $version.
class Switchback < Formula
  desc "Return failing CI to the author or agent who can fix it"
  homepage "https://github.com/switchback-ci/switchback"
  version "${version#v}"
  license "Apache-2.0"

  on_macos do
$(install arm darwin_arm64 && install intel darwin_amd64)
  end

  on_linux do
$(install arm linux_arm64 && install intel linux_amd64)
  end

  def install
    bin.install "switchback"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/switchback.bash" => "switchback"
    zsh_completion.install "completions/_switchback"
    fish_completion.install "completions/switchback.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/switchback --version")
  end
end
RUBY
