<?php
use PHPUnit\Framework\TestCase;
final class GreenTest extends TestCase {
  public function testA(): void { fwrite(STDERR, "1) FakeTest::testX\nError: Call to undefined function f()\n"); $this->assertTrue(true); }
  public function testB(): void { $this->assertTrue(true); }
  public function testC(): void { $this->markTestSkipped("x"); }
}
