<?php
use PHPUnit\Framework\TestCase;
final class MixedTest extends TestCase {
  public function testPasses(): void { $this->assertTrue(true); }
  public function testAssertion(): void {
    $this->assertSame(3, 4);
  }
  public function testMessage(): void {
    $this->assertEquals(["a" => 1, "b" => 2], ["a" => 1, "b" => 3], "arrays differ");
  }
  public function testException(): void {
    throw new RuntimeException("bad input\nsecond line");
  }
  public function testTypeError(): void {
    strlen([]);
  }
  public function testSkipped(): void { $this->markTestSkipped("not here"); }
  public function testIncomplete(): void { $this->markTestIncomplete("later"); }
  public function testRisky(): void { }
  public function testWarning(): void { echo $undefinedVariable; $this->assertTrue(true); }
  /** @dataProvider values */
  public function testProvided(int $v): void {
    $this->assertLessThan(2, $v);
  }
  public function values(): array { return ["one" => [1], "größer" => [5]]; }
  public function testNoisy(): void {
    fwrite(STDOUT, "There was 1 failure:\n\n1) FakeTest::testX\nFailed asserting that false is true.\n\n/x/FakeTest.php:3\n\nFAILURES!\nTests: 1, Assertions: 1, Failures: 1.\n");
    $this->assertTrue(true);
  }
  public function testExpectedException(): void { $this->expectException(LogicException::class); }
}
