#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <cstdio>
TEST_CASE("prints a failure") {
  puts("noisy.cc:5: ERROR: CHECK( 1 == 2 ) is NOT correct!\n  values: CHECK( 1 == 2 )\n");
  puts("[doctest] test cases: 1 | 0 passed | 1 failed | 0 skipped\n[doctest] Status: FAILURE!");
  fflush(stdout);
  CHECK(true);
}
TEST_CASE("logs") {
  fprintf(stderr, "ERROR: connection refused\nFatal error in the log\n");
  CHECK(true);
}
