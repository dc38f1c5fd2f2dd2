#define BOOST_TEST_MODULE Mixed
#include <boost/test/included/unit_test.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace utf = boost::unit_test;
namespace bdata = boost::unit_test::data;

static int total() { return 3; }

BOOST_AUTO_TEST_CASE(works) { BOOST_TEST(total() == 3); }
BOOST_AUTO_TEST_CASE(assertion) {
  BOOST_TEST(total() == 4);
}
BOOST_AUTO_TEST_CASE(fatal) {
  BOOST_REQUIRE_EQUAL(total(), 5);
}
BOOST_AUTO_TEST_CASE(several) {
  BOOST_CHECK(total() == 6);
  BOOST_CHECK_MESSAGE(false, "größer – €");
}
BOOST_AUTO_TEST_CASE(exception) {
  throw std::runtime_error("no card");
}
BOOST_AUTO_TEST_CASE(unknown) {
  throw 7;
}
BOOST_AUTO_TEST_CASE(no_throw) {
  BOOST_CHECK_THROW(total(), std::out_of_range);
}
BOOST_AUTO_TEST_CASE(vectors) {
  std::vector<int> a{1, 2}, b{1, 3};
  BOOST_TEST(a == b, boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(slow, *utf::timeout(1)) {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}
BOOST_AUTO_TEST_CASE(disabled, *utf::disabled()) { BOOST_TEST(false); }
BOOST_AUTO_TEST_CASE(expected, *utf::expected_failures(1)) { BOOST_TEST(total() == 8); }
BOOST_AUTO_TEST_CASE(by_hand) {
  BOOST_FAIL("on purpose");
}
BOOST_AUTO_TEST_CASE(warns) { BOOST_WARN(total() == 9); BOOST_TEST(true); }
BOOST_AUTO_TEST_CASE(empty) { }

BOOST_AUTO_TEST_SUITE(collections)
BOOST_AUTO_TEST_SUITE(inner)
BOOST_AUTO_TEST_CASE(nested) {
  BOOST_TEST_CONTEXT("with a context") {
    BOOST_TEST(total() == 10);
  }
}
BOOST_AUTO_TEST_CASE(works) { BOOST_TEST(true); }
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

struct Fixture {
  Fixture() { throw std::runtime_error("no database"); }
};
BOOST_FIXTURE_TEST_CASE(reads, Fixture) { BOOST_TEST(true); }

BOOST_DATA_TEST_CASE(data, bdata::make({1, 2, 3}), n) {
  BOOST_TEST(n != 2);
}
BOOST_AUTO_TEST_CASE(dependent, *utf::depends_on("assertion")) { BOOST_TEST(true); }
BOOST_AUTO_TEST_CASE(memory) {
  volatile int *p = nullptr;
  *p = 1;
}
