#!/bin/sh
# Makes the *.txt files of this directory with Debian's elixir (1.14).
set -u
out=$PWD
work=/tmp/proj/exunit
rm -rf "$work"; mkdir -p "$work/test" "$work/lib"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/exunit#/proj#g; s#Finished in .*#Finished in 0.05 seconds (0.00s async, 0.05s sync)#; s#seed: [0-9]+#seed: 0#; s#<[0-9]+\.[0-9]+\.[0-9]+>#<0.1.0>#g; s#\([0-9.]+ms\)#(1.5ms)#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
export HOME=/tmp/proj MIX_HOME=/tmp/proj/mix
cat > mix.exs <<'T'
defmodule Sums.MixProject do
  use Mix.Project
  def project, do: [app: :sums, version: "0.1.0", deps: []]
end
T
echo 'defmodule Sums do def add(a, b), do: a + b end' > lib/sums.ex
echo 'ExUnit.start(exclude: [:slow])' > test/test_helper.exs
cat > test/sums_test.exs <<'T'
defmodule SumsTest do
  use ExUnit.Case
  describe "add/2" do
    test "passes", do: assert Sums.add(1, 1) == 2
    test "adds up", do: assert Sums.add(1, 1) == 3
  end
  test "raises", do: raise ArgumentError, "bad"
  @tag :skip
  test "skips", do: :ok
  @tag :slow
  test "excluded", do: :ok
  @tag timeout: 20
  test "times out", do: Process.sleep(1000)
end
defmodule SetupTest do
  use ExUnit.Case
  setup_all do: raise "no database"
  test "never", do: :ok
  test "never two", do: :ok
end
T
cat > test/green_test.exs <<'T'
defmodule GreenTest do
  use ExUnit.Case
  test "a", do: :ok
  test "b", do: :ok
end
T
run failing mix test --seed 0 test/sums_test.exs
run failing_trace mix test --seed 0 --trace test/sums_test.exs
run green mix test --seed 0 test/green_test.exs
echo 'defmodule Bad do x( end' > test/bad_test.exs
run broken mix test --seed 0
