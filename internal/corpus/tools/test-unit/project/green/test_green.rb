require "test/unit"
class TestGreen < Test::Unit::TestCase
  def test_a; puts "Error: test_x(Fake): RuntimeError: x"; end
  def test_b; assert true; end
  def test_c; omit; end
end
