#!/usr/bin/env bats

total() { echo 3; }

@test "works" {
  [ "$(total)" = 3 ]
}

@test "adds up" {
  [ "$(total)" = 4 ]
}

@test "fails with output" {
  echo "some output"
  echo "ERROR: and more"
  false
}

@test "run fails" {
  run total
  [ "$status" -eq 1 ]
}

@test "größer – €" {
  [[ größer == kleiner ]]
}

@test "is skipped" {
  skip "no network"
}

@test "is skipped without a reason" {
  skip
}

helper() {
  [ "$1" -gt 5 ]
}

@test "fails in a helper" {
  helper 3
}

@test "a command that is missing" {
  no_such_command_of_ours
}

@test "unbound" {
  set -u
  echo "$not_set"
}

@test "too slow" {
  sleep 5
}

@test "same name # 1" {
  true
}
