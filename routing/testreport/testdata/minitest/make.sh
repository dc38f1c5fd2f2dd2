#!/bin/sh
# Makes the *.txt files of this directory with Debian's ruby-minitest and
# ruby-test-unit. rails.txt and reporters.txt are by hand after the
# documentation of Rails and minitest-reporters.
set -u
out=$PWD
work=/tmp/proj/minitest
rm -rf "$work"; mkdir -p "$work"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/minitest#/proj#g; s#in [0-9.]+s,.*#in 0.001s, 10.0 runs/s, 10.0 assertions/s.#; s#Finished in [0-9.]+ seconds#Finished in 0.001 seconds#; s#seed [0-9]+#seed 1#; s#[0-9.]+ tests/s.*#10 tests/s, 10 assertions/s#; s#0x[0-9a-f]+#0x7f00#g; s# = [0-9.]+ s = # = 0.00 s = #"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > a_test.rb <<'T'
require 'minitest/autorun'
class TestSums < Minitest::Test
  def test_ok; assert true; end
  def test_fails; assert_equal 3, 1 + 1; end
  def test_raises; raise ArgumentError, "bad"; end
  def test_skips; skip 'not now'; end
end
describe 'Spec style' do
  it('adds up') { _(1 + 1).must_equal 3 }
  describe('nested') { it('works') { _(1).must_equal 1 } }
end
class TestSetup < Minitest::Test
  def setup; raise 'no database'; end
  def test_a; end
end
T
cat > green_test.rb <<'T'
require 'minitest/autorun'
class TestGreen < Minitest::Test
  def test_a; assert true; end
  def test_b; assert true; end
end
T
cat > tu_test.rb <<'T'
require 'test/unit'
class TestSums < Test::Unit::TestCase
  def test_ok; assert true; end
  def test_fails; assert_equal 3, 1 + 1; end
  def test_raises; raise ArgumentError, "bad"; end
  def test_pend; pend 'not now'; end
  def test_omit; omit 'never'; end
  data('one' => 1, 'two' => 2)
  def test_data(n); assert_equal 1, n; end
end
T
echo "require 'minitest/autorun'; require 'nothing_of_this_name'" > broken_test.rb
run failing ruby a_test.rb --seed 1
run failing_v ruby a_test.rb -v --seed 1
run green ruby green_test.rb --seed 1
run testunit ruby tu_test.rb
run testunit_v ruby tu_test.rb -v
run broken ruby broken_test.rb
