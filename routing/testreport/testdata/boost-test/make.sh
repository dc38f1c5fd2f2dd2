#!/bin/sh
# Writes what Boost.Test (Debian: libboost-test-dev) prints for a small program.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
cat > test.cpp <<'EOF'
#define BOOST_TEST_MODULE calc
#include <boost/test/included/unit_test.hpp>
#include <boost/test/data/test_case.hpp>
#include <cstdlib>
#include <stdexcept>
static int add(int a, int b) { return a + b; }
BOOST_AUTO_TEST_CASE(adds) { BOOST_TEST(add(1, 1) == 2); }
BOOST_AUTO_TEST_SUITE(sums)
BOOST_AUTO_TEST_CASE(wrong) { BOOST_TEST(add(1, 1) == 3); BOOST_CHECK_EQUAL(add(2, 2), 5); }
BOOST_AUTO_TEST_CASE(throws) { throw std::runtime_error("no such sum"); }
BOOST_AUTO_TEST_CASE(fatal) { BOOST_REQUIRE_MESSAGE(false, "cannot go on"); }
BOOST_AUTO_TEST_SUITE_END()
BOOST_DATA_TEST_CASE(even, boost::unit_test::data::make({2, 3}), n) { BOOST_TEST(n % 2 == 0); }
BOOST_AUTO_TEST_CASE(crashes) { if (getenv("CRASH")) { int *p = nullptr; *p = 1; } }
BOOST_AUTO_TEST_CASE(off, *boost::unit_test::disabled()) { BOOST_TEST(false); }
EOF
g++ -O0 -o test test.cpp || exit 1
./test > "$here/failing.txt" 2>&1
./test --run_test=adds > "$here/green.txt" 2>&1
CRASH=1 ./test --run_test=adds,crashes > "$here/crash.txt" 2>&1
./test --run_test=sums/wrong --report_level=short > "$here/short.txt" 2>&1
rm -rf "$dir"
