#include <catch2/catch.hpp>
TEST_CASE("same") { CHECK(true); }
TEST_CASE("same") { CHECK(false); }
