#define BOOST_TEST_MODULE Setup
#include <boost/test/included/unit_test.hpp>
#include <stdexcept>
struct Global {
  void setup() { BOOST_FAIL("no server"); }
};
BOOST_TEST_GLOBAL_FIXTURE(Global);
BOOST_AUTO_TEST_CASE(one) { BOOST_TEST(true); }
BOOST_AUTO_TEST_CASE(two) { BOOST_TEST(true); }
