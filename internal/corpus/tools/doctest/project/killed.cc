#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <csignal>
TEST_CASE("works") { CHECK(true); }
TEST_CASE("fails") { CHECK(1 == 2); }
TEST_CASE("dies") { raise(SIGKILL); }
