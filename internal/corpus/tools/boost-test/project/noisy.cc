#define BOOST_TEST_MODULE Noisy
#include <boost/test/included/unit_test.hpp>
#include <cstdio>
BOOST_AUTO_TEST_CASE(prints) {
  puts("noisy.cc(4): error: in \"other/test\": check total() == 4 has failed [3 != 4]");
  puts("*** 1 failure is detected in the test module \"Other\"");
  fflush(stdout);
  BOOST_TEST(true);
}
BOOST_AUTO_TEST_CASE(logs) {
  fprintf(stderr, "ERROR: connection refused\nfatal error: in the log\n");
  BOOST_TEST(true);
}
