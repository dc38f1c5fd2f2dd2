#include <catch2/catch.hpp>
TEST_CASE("works") { CHECK(true); }
TEST_CASE("fails") { CHECK(1 == 2); }
TEST_CASE("dies") { volatile int *p = nullptr; CHECK(true); *p = 1; }
TEST_CASE("never runs") { CHECK(true); }
