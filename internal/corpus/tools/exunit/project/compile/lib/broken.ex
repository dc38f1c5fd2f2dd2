defmodule Broken do
  def one, do: undefined_variable + 1
end
