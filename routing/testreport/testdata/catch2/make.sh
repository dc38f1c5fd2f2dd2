#!/bin/sh
# Writes what Catch2 (Debian: catch2) prints for a small program.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
cat > test.cpp <<'EOF'
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>
static int add(int a, int b) { return a + b; }
TEST_CASE("adds", "[calc]") { REQUIRE(add(1, 1) == 2); }
TEST_CASE("wrong", "[calc]") { CHECK(add(1, 1) == 3); CHECK(add(2, 2) == 5); }
TEST_CASE("throws", "[calc]") { throw std::runtime_error("no such sum"); }
TEST_CASE("sections", "[sec]") {
	SECTION("good") { REQUIRE(true); }
	SECTION("bad") { INFO("while adding"); SECTION("inner") { REQUIRE(add(1, 2) == 4); } }
}
TEST_CASE("values", "[gen]") { auto i = GENERATE(1, 2, 3); CHECK(i != 2); }
TEST_CASE("may fail", "[!mayfail]") { CHECK(false); }
SCENARIO("a queue is drained") { GIVEN("a queue") { WHEN("drained") { THEN("it is empty") { FAIL("still full"); } } } }
TEST_CASE("crashes", "[.crash]") { int *p = nullptr; *p = 1; }
EOF
g++ -O0 -o test test.cpp || exit 1
./test > "$here/failing.txt" 2>&1
./test '[calc]' -s > "$here/success.txt" 2>&1
./test adds > "$here/green.txt" 2>&1
./test '[.crash]' > "$here/crash.txt" 2>&1
./test nothing_at_all > "$here/empty.txt" 2>&1
rm -rf "$dir"
