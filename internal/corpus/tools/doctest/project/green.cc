#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
TEST_CASE("adds") { CHECK(1 + 1 == 2); }
TEST_CASE("may fail" * doctest::may_fail()) { CHECK(1 == 2); }
TEST_CASE("skipped" * doctest::skip()) { CHECK(1 == 2); }
