#include <catch2/catch.hpp>
#include <csignal>
TEST_CASE("works") { CHECK(true); }
TEST_CASE("fails") { CHECK(1 == 2); }
TEST_CASE("dies") { raise(SIGKILL); }
