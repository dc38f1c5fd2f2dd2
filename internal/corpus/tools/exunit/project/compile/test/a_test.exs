defmodule ATest do
  use ExUnit.Case
  test "works", do: :ok
end
