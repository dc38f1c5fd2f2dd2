require "minitest/autorun"
class TestGreen < Minitest::Test
  def test_a; puts "  1) Error:\nFake#test:\nRuntimeError: x\n    fake.rb:1"; end
  def test_b; assert true; end
  def test_c; skip; end
end
