#!/bin/sh
# Makes *.xml with Debian's libboost-test-dev. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/boostxml; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > t.cpp <<'T'
#define BOOST_TEST_MODULE Shop
#include <boost/test/included/unit_test.hpp>
#include <boost/test/data/test_case.hpp>
#include <stdexcept>
#include <csignal>
#include <cstdlib>
namespace ut = boost::unit_test; namespace data = ut::data;
BOOST_AUTO_TEST_SUITE(Cart)
BOOST_AUTO_TEST_CASE(adds) { BOOST_TEST(1 + 1 == 2); }
BOOST_AUTO_TEST_CASE(subtracts) { int a = 2; BOOST_CHECK_EQUAL(a, 3); BOOST_TEST(a < 1); }
BOOST_AUTO_TEST_CASE(stops) { BOOST_REQUIRE_MESSAGE(false, "a < b && c"); }
BOOST_AUTO_TEST_CASE(throws) { BOOST_TEST_CHECKPOINT("here"); throw std::runtime_error("no luck"); }
BOOST_AUTO_TEST_CASE(off, *ut::disabled()) { BOOST_TEST(false); }
BOOST_AUTO_TEST_CASE(expected, *ut::expected_failures(1)) { BOOST_TEST(false); }
BOOST_AUTO_TEST_CASE(crashes) { if (getenv("CRASH")) raise(SIGSEGV); }
BOOST_DATA_TEST_CASE(rows, data::make({1, 2}), n) { BOOST_TEST(n < 2); }
BOOST_AUTO_TEST_SUITE_END()
struct Broken { Broken() { throw std::logic_error("no database"); } };
BOOST_FIXTURE_TEST_CASE(never_runs, Broken) {}
T
g++ -O0 t.cpp -o t
./t --log_format=XML --log_level=all --log_sink=log.xml --report_format=XML --report_level=detailed --report_sink=res.xml >/dev/null 2>&1 || true
sed -E 's#<TestingTime>[0-9]+#<TestingTime>100#g' log.xml > "$out/log.xml"; cp res.xml "$out/result.xml"; cat "$out/log.xml" res.xml > "$out/both.xml"
CRASH=1 ./t --log_format=XML --log_level=all --log_sink=log.xml --report_level=no >/dev/null 2>&1 || true
sed -E 's#<TestingTime>[0-9]+#<TestingTime>100#g' log.xml > "$out/crash.xml"
./t --run_test=Cart/adds --log_format=XML --log_level=all --log_sink=log.xml >/dev/null 2>&1
sed -E 's#<TestingTime>[0-9]+#<TestingTime>100#g' log.xml > "$out/green.xml"
