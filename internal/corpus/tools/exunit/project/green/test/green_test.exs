defmodule GreenTest do
  use ExUnit.Case
  require Logger

  test "works" do
    assert Shop.total() == 3
  end

  @tag :skip
  test "later" do
    assert false
  end

  test "prints what looks like a failure" do
    IO.puts("  1) test fails (OtherTest)\n     test/other_test.exs:4\n     ** (RuntimeError) no\n\n3 tests, 1 failure")
    Logger.error("** (RuntimeError) connection refused")
    assert true
  end

  test "a task crashes" do
    {:ok, pid} = Agent.start(fn -> 1 end)
    catch_exit(Agent.get(pid, fn _ -> raise "handled" end))
  end
end
