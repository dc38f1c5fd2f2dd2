#!/bin/sh
# Makes the *.txt files of this directory with Debian's phpunit (9.6).
# phpunit11.txt is by hand after its documentation.
set -u
out=$PWD
work=/tmp/proj/phpunit
rm -rf "$work"; mkdir -p "$work/tests" "$work/green" "$work/fatal" "$work/empty"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/phpunit#/proj#g; s#^Time: .*#Time: 00:00.010, Memory: 4.00 MB#"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > tests/SumsTest.php <<'T'
<?php
namespace App\Tests;
use PHPUnit\Framework\TestCase;
class SumsTest extends TestCase {
  public function testOk() { $this->assertTrue(true); }
  public function testFails() { $this->assertSame(3, 1 + 1); }
  public function testArrays() { $this->assertEquals(['a' => 1], ['a' => 2], 'arrays differ'); }
  public function testThrows() { throw new \RuntimeException("bad\nvalue"); }
  /** @dataProvider numbers */
  public function testData($n) { $this->assertEquals(1, $n); }
  public function numbers() { return [[1], [2], 'named' => [3]]; }
  public function testSkips() { $this->markTestSkipped('not now'); }
  public function testIncomplete() { $this->markTestIncomplete('later'); }
  public function testRisky() { }
}
class SetupTest extends TestCase {
  public static function setUpBeforeClass(): void { throw new \Exception('no database'); }
  public function testA() { $this->assertTrue(true); }
}
T
cat > green/GreenTest.php <<'T'
<?php
class GreenTest extends PHPUnit\Framework\TestCase {
  public function testA() { $this->assertTrue(true); }
  public function testB() { $this->assertTrue(true); }
}
T
cat > fatal/FatalTest.php <<'T'
<?php
class FatalTest extends PHPUnit\Framework\TestCase {
  public function testA() { $this->assertTrue(true); }
  public function testB() { nothing_of_this_name_class::x(); }
  public function testC() { exit(3); }
}
T
run failing phpunit tests/SumsTest.php
run failing_dir phpunit tests
run testdox phpunit --testdox tests
run green phpunit green
run fatal phpunit fatal
run empty phpunit empty
run risky phpunit --filter 'testOk|testRisky' tests/SumsTest.php
