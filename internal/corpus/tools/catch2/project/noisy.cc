#include <catch2/catch.hpp>
#include <cstdio>
#include <iostream>
TEST_CASE("prints a failure") {
  puts("noisy.cc:5: FAILED:\n  REQUIRE( 1 == 2 )\nwith expansion:\n  1 == 2\n");
  puts("test cases: 1 | 1 failed\nassertions: 1 | 1 failed");
  fflush(stdout);
  CHECK(true);
}
TEST_CASE("logs") {
  std::cerr << "ERROR: connection refused\nFatal error in the log\n";
  CHECK(true);
}
