#!/bin/sh
# Makes real.xml with Debian's check. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/check; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > test_list.c <<'T'
#include <check.h>
#include <stdlib.h>
#include <signal.h>
#include <unistd.h>
START_TEST(pushes) { ck_assert_int_eq(1 + 1, 2); } END_TEST
START_TEST(pops) { ck_assert_int_eq(1 + 1, 3); } END_TEST
START_TEST(names) { ck_assert_str_eq("left <a>", "right & b"); } END_TEST
START_TEST(fails_plainly) { ck_abort_msg("no luck with %d", 7); } END_TEST
START_TEST(segfaults) { raise(SIGSEGV); } END_TEST
START_TEST(exits) { exit(3); } END_TEST
START_TEST(hangs) { sleep(20); } END_TEST
START_TEST(loops) { ck_assert_int_lt(_i, 2); } END_TEST
static void broken_setup(void) { ck_abort_msg("set-up is broken"); }
START_TEST(never_runs) { } END_TEST
int main(void) {
    Suite *s = suite_create("List");
    TCase *c = tcase_create("Core");
    tcase_set_timeout(c, 1);
    tcase_add_test(c, pushes); tcase_add_test(c, pops); tcase_add_test(c, names); tcase_add_test(c, fails_plainly);
    tcase_add_test(c, segfaults); tcase_add_test(c, exits); tcase_add_test(c, hangs);
    tcase_add_loop_test(c, loops, 0, 4);
    suite_add_tcase(s, c);
    TCase *b = tcase_create("Broken");
    tcase_add_checked_fixture(b, broken_setup, NULL);
    tcase_add_test(b, never_runs);
    suite_add_tcase(s, b);
    SRunner *r = srunner_create(s);
    srunner_add_suite(r, suite_create("Empty"));
    srunner_set_xml(r, "real.xml");
    srunner_run_all(r, CK_SILENT);
    return srunner_ntests_failed(r) != 0;
}
T
gcc test_list.c -o test_list $(pkg-config --cflags --libs check)
./test_list || true
sed -E 's#<datetime>[^<]*#<datetime>2024-01-02 03:04:05#; s#<duration>[-0-9.]*#<duration>0.001#' real.xml > "$out/real.xml"
