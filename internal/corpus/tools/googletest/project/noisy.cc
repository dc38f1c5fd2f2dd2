#include <gtest/gtest.h>
#include <cstdio>
TEST(Noisy, Another) {
  printf("noisy.cc:3: Failure\nExpected equality of these values:\n  1\n  2\n");
  printf("[  FAILED  ] Other.Fails (0 ms)\n");
}
TEST(Noisy, Error) {
  fprintf(stderr, "ERROR: connection refused\nerror: expected ';' before '}'\nterminate called\n");
}
TEST(Noisy, NoNewline) { printf("working..."); fflush(stdout); }
