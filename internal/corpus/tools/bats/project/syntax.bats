@test "works" { true; }
@test "is broken" {
  if true; then
}
