#define BOOST_TEST_MODULE Green
#include <boost/test/included/unit_test.hpp>
namespace utf = boost::unit_test;
BOOST_AUTO_TEST_CASE(adds) { BOOST_TEST(1 + 1 == 2); }
BOOST_AUTO_TEST_CASE(expected, *utf::expected_failures(1)) { BOOST_TEST(1 == 2); }
BOOST_AUTO_TEST_CASE(disabled, *utf::disabled()) { BOOST_TEST(false); }
