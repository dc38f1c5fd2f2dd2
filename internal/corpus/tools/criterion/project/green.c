#include <criterion/criterion.h>
Test(green, adds) { cr_assert_eq(1 + 1, 2); }
Test(green, skipped) { cr_skip_test("later"); }
Test(other, disabled, .disabled = true) { cr_assert(false); }
Test(other, subtracts) { cr_assert_eq(2 - 1, 1); }
