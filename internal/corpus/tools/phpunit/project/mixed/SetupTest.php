<?php
use PHPUnit\Framework\TestCase;
final class SetupTest extends TestCase {
  protected function setUp(): void { throw new LogicException("no fixture"); }
  public function testOne(): void { }
}
