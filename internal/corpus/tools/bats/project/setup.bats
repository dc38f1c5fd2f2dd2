setup() {
  [ "$BATS_TEST_NUMBER" != 1 ] || { echo "no database"; return 1; }
}
teardown() {
  [ "$BATS_TEST_NUMBER" != 2 ] || { echo "cannot close"; return 1; }
}
@test "reads" { true; }
@test "closes" { true; }
@test "works" { true; }
