#include <criterion/criterion.h>
#include <stdio.h>
Test(noisy, prints) {
  printf("[----] noisy.c:4: Assertion Failed\n[FAIL] other::test: (0.00s)\n");
  printf("[====] Synthesis: Tested: 1 | Passing: 0 | Failing: 1 | Crashing: 0 \n");
  fflush(stdout);
  cr_assert(true);
}
Test(noisy, logs) { fprintf(stderr, "ERROR: connection refused\n"); cr_assert(true); }
