#!/bin/sh
# Makes *.xml with Debian's catch2 (2.13) and doctest-dev. v3.xml is written by hand in the shape of Catch2 3.5.
# Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/catch2xml; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > body.h <<'T'
#include <stdexcept>
#include <csignal>
#include <cstdlib>
TEST_CASE("adds") { CHECK(1 + 1 == 2); }
TEST_CASE("subtracts") { int a = 2; CHECK(a == 3); CHECK(a < 1); }
TEST_CASE("sections") { SECT("first") { CHECK(true); } SECT("second") { SECT("deep") { REQUIRE(1 > 2); } } }
TEST_CASE("throws") { throw std::runtime_error("no luck"); }
TEST_CASE("throws in a check") { CHECK(std::stoi("x") == 1); }
TEST_CASE("fails") { FAIL("a < b && c"); }
TEST_CASE("crashes") { if (getenv("CRASH")) raise(SIGSEGV); CHECK(true); }
T
cat > c.cpp <<'T'
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#define SECT(n) SECTION(n)
#include <string>
#include "body.h"
TEST_CASE("may fail", "[!mayfail]") { CHECK(false); }
TEMPLATE_TEST_CASE("typed", "", int, char) { CHECK(sizeof(TestType) > 1); }
T
cat > d.cpp <<'T'
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#define SECT(n) SUBCASE(n)
#include <string>
TEST_SUITE("shop") {
#include "body.h"
TEST_CASE("may fail" * doctest::may_fail()) { CHECK(false); }
TEST_CASE("off" * doctest::skip()) { CHECK(false); }
}
T
g++ c.cpp -o c; g++ d.cpp -o d
scrub() { sed -E 's#duration(InSeconds)?="[^"]*"#duration\1="0.001"#g; s#rng-seed="[0-9]*"#rng-seed="1"#; s#Randomness seed="[0-9]*"#Randomness seed="1"#; s#binary="[^"]*"#binary="./d"#; s#rand_seed="[0-9]*"#rand_seed="0"#'; }
./c -r xml -d yes | scrub > "$out/catch2.xml" || true
./c -r xml -d yes adds | scrub > "$out/catch2_green.xml"
(CRASH=1 ./c -r xml -d yes || true) 2>/dev/null | scrub > "$out/catch2_crash.xml"
./d -r=xml -d=true | scrub > "$out/doctest.xml" || true
./d -r=xml -tc=adds | scrub > "$out/doctest_green.xml"
(CRASH=1 ./d -r=xml || true) 2>/dev/null | scrub > "$out/doctest_crash.xml"
