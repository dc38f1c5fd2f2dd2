#include <catch2/catch.hpp>
TEST_CASE("adds") { CHECK(1 + 1 == 2); CHECK(2 + 2 == 4); }
TEST_CASE("may fail", "[!mayfail]") { CHECK(1 == 2); }
TEST_CASE("subtracts") { CHECK(2 - 1 == 1); }
