@test "works" { true; }
@test "fails" { false; }
@test "dies" { kill -9 $$; sleep 3; }
@test "never runs" { true; }
