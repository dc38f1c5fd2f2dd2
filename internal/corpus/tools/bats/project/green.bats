@test "adds" { [ $((1 + 1)) = 2 ]; }
@test "is skipped" { skip later; }
@test "prints what looks like a failure" {
  echo "not ok 1 other test"
  echo "# not ok 2 other test" >&3
  echo "ERROR: connection refused"
  true
}
