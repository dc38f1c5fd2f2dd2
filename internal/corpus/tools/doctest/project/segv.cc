#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
TEST_CASE("works") { CHECK(true); }
TEST_CASE("fails") { CHECK(1 == 2); }
TEST_CASE("dies") { volatile int *p = nullptr; *p = 1; }
TEST_CASE("never runs") { CHECK(true); }
