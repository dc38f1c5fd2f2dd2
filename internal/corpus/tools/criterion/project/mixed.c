#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int total(void) { return 3; }

Test(cart, works) { cr_assert_eq(total(), 3); }
Test(cart, assertion) {
  cr_assert_eq(total(), 4);
}
Test(cart, message) {
  cr_assert(total() == 5, "the total is %d", total());
}
Test(cart, several) {
  cr_expect_eq(total(), 6);
  cr_expect_str_eq("one", "two", "größer – €");
}
Test(cart, crash) {
  volatile int *p = NULL;
  *p = 1;
}
Test(cart, aborts) { abort(); }
Test(cart, expected_signal, .signal = SIGABRT) { abort(); }
Test(cart, other_signal, .signal = SIGABRT) { }
Test(cart, exits) { exit(3); }
Test(cart, expected_exit, .exit_code = 3) { exit(3); }
Test(cart, slow, .timeout = 0.5) { sleep(5); }
Test(cart, disabled, .disabled = true) { cr_assert(false); }
Test(cart, skipped) { cr_skip_test("no network"); }
Test(cart, by_hand) {
  cr_fatal("on purpose");
}

static void setup(void) { cr_assert(false, "no database"); }
static void teardown(void) { cr_expect(false, "cannot close"); }
Test(fixture, reads, .init = setup) { cr_assert(true); }
Test(fixture, closes, .fini = teardown) { cr_assert(true); }

ParameterizedTestParameters(odd, is_odd) {
  static int values[] = {1, 2, 3};
  return cr_make_param_array(int, values, 3);
}
ParameterizedTest(int *n, odd, is_odd) {
  cr_assert(*n % 2 == 1, "%d is even", *n);
}
