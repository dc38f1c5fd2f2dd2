defmodule BrokenTest do
  use ExUnit.Case
  test "works" do
    assert (1 == 1
  end
end
