setup_file() {
  echo "no server" >&2
  return 1
}
@test "reads" { true; }
@test "writes" { true; }
