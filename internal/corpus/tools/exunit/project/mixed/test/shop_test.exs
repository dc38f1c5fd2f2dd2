defmodule ShopTest do
  use ExUnit.Case

  test "works" do
    assert Shop.total() == 3
  end

  test "adds up" do
    assert Shop.total() == 4
  end

  test "matches" do
    assert [%{name: "plum"} | _] = Shop.items()
  end

  test "refutes" do
    refute Shop.total() == 3
  end

  test "the items" do
    assert Shop.items() == [%{name: "apple", price: 1}, %{name: "plum", price: 2}]
  end

  describe "pay" do
    test "needs a card" do
      Shop.pay(nil)
    end

    test "has no clause" do
      Shop.pay(7)
    end

    test "is skipped" do
      :ok
    end
  end

  @tag timeout: 100
  test "is too slow" do
    Process.sleep(3000)
  end

  @tag :skip
  test "later" do
    assert false
  end

  @tag skip: "no network"
  test "later with a reason" do
    assert false
  end

  @tag :slow
  test "is excluded" do
    assert false
  end

  test "exits" do
    exit(:on_purpose)
  end

  test "throws" do
    throw(:ball)
  end

  test "a linked process dies" do
    spawn_link(fn -> exit(:gone) end)
    Process.sleep(1000)
  end

  test "receives" do
    assert_receive {:hello, _}, 50
  end

  test "raises another" do
    assert_raise KeyError, "lost", fn -> raise ArgumentError, "found" end
  end

  for n <- 1..3 do
    test "is not two: #{n}" do
      assert unquote(n) != 2
    end
  end

  test "größer – €" do
    flunk("on purpose")
  end

  test "not written yet"
end

defmodule SetupTest do
  use ExUnit.Case
  setup_all do
    raise "no server"
  end

  test "one", do: :ok
  test "two", do: :ok
end

defmodule HookTest do
  use ExUnit.Case

  setup %{test: name} do
    if name == :"test reads", do: raise("no database")
    on_exit(fn -> if name == :"test closes", do: raise("cannot close") end)
    :ok
  end

  test "reads", do: :ok
  test "closes", do: :ok
  test "works", do: :ok
end
