#define BOOST_TEST_MODULE None
#include <boost/test/included/unit_test.hpp>
