@test "same" { true; }
@test "same" { false; }
