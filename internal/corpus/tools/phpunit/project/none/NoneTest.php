<?php
use PHPUnit\Framework\TestCase;
final class NoneTest extends TestCase {
}
