#!/bin/sh
# Writes what bats (Debian: bats) prints with its pretty formatter.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
cat > calc.bats <<'EOF'
@test "adds" { [ $((1+1)) -eq 2 ]; }
@test "wrong: one and one" {
  run echo 2
  echo "got $output"
  [ "$output" = 3 ]
}
@test "skips" { skip "not today"; }
@test "no such command" { nosuchcommand --help; }
EOF
cat > setup.bats <<'EOF'
setup() { false; }
@test "never runs" { true; }
EOF
cat > broken.bats <<'EOF'
setup_file() { echo "no server" >&2; false; }
@test "in a broken file" { true; }
EOF
printf '@test "fine" { true; }\n' > green.bats
bats --pretty calc.bats setup.bats 2>&1 | sed "s#$dir#/work#g" > "$here/failing.txt"
bats --pretty broken.bats > "$here/setup_file.txt" 2>&1
bats --pretty green.bats > "$here/green.txt" 2>&1
rm -rf "$dir"
