#!/bin/sh
# Writes what doctest (Debian: doctest-dev) prints for a small program.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
cat > test.cpp <<'EOF'
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <stdexcept>
static int add(int a, int b) { return a + b; }
TEST_CASE("adds") { CHECK(add(1, 1) == 2); }
TEST_SUITE("calc") {
TEST_CASE("wrong") { CHECK(add(1, 1) == 3); CHECK(add(2, 2) == 5); }
TEST_CASE("throws") { throw std::runtime_error("no such sum"); }
TEST_CASE("fatal") { REQUIRE(add(1, 2) == 4); }
}
TEST_CASE("sections") {
	SUBCASE("good") { CHECK(true); }
	SUBCASE("bad") { SUBCASE("inner") { CHECK_MESSAGE(add(1, 2) == 4, "while adding"); } }
}
TEST_CASE("skipped" * doctest::skip()) { CHECK(false); }
TEST_CASE_TEMPLATE("wide", T, int, char) { CHECK(sizeof(T) == 4); }
TEST_CASE("zcrash" * doctest::skip()) { int *p = nullptr; *p = 1; }
EOF
g++ -O0 -o test test.cpp || exit 1
./test > "$here/failing.txt" 2>&1
./test -s -tc=adds,wrong > "$here/success.txt" 2>&1
./test -tc=adds > "$here/green.txt" 2>&1
./test -ns -tc=zcrash > "$here/crash.txt" 2>&1
rm -rf "$dir"
