require "minitest/autorun"
class TestMixed < Minitest::Test
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
  def test_skipped; skip "not here"; end
  def test_größe; assert_includes [1], 2; end
  def test_noisy
    puts "  1) Failure:\nTestFake#test_x [fake.rb:3]:\nExpected: 1\n  Actual: 2\n\n3 runs, 3 assertions, 1 failures, 0 errors, 0 skips\n"
    assert true
  end
end
class TestSetup < Minitest::Test
  def setup; raise IOError, "no fixture"; end
  def test_one; end
end
class TestTeardown < Minitest::Test
  def teardown; raise IOError, "cannot clean"; end
  def test_one; end
end
describe "outer" do
  describe "inner" do
    it "works – nearly" do
      _(1).must_equal 2
    end
  end
end
