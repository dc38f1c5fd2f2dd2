#define BOOST_TEST_MODULE Killed
#include <boost/test/included/unit_test.hpp>
#include <csignal>
BOOST_AUTO_TEST_CASE(works) { BOOST_TEST(true); }
BOOST_AUTO_TEST_CASE(fails) { BOOST_TEST(1 == 2); }
BOOST_AUTO_TEST_CASE(dies) { raise(SIGKILL); }
