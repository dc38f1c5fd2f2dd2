require "test/unit"
class TestMixed < Test::Unit::TestCase
  def test_passes; assert true; end
  def test_assertion
    assert_equal 3, 4
  end
  def test_message
    assert_equal "a\nb", "a\nc", "texts differ"
  end
  def test_exception
    raise ArgumentError, "bad input\nsecond line"
  end
  def test_omitted; omit "not here"; end
  def test_pending; pend "later"; end
  def test_größe; assert_include [1], 2; end
  data("one" => 1, "two" => 2)
  def test_data(v)
    assert_equal 1, v
  end
  def test_noisy
    puts "Failure: test_x(Fake)\nfake.rb:3\n\n1 tests, 1 assertions, 1 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n"
    assert true
  end
end
class TestSetup < Test::Unit::TestCase
  def setup; raise IOError, "no fixture"; end
  def test_one; end
end
class TestStartup < Test::Unit::TestCase
  def self.startup; raise IOError, "class set-up failed"; end
  def test_one; end
end
