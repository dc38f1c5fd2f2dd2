#!/bin/sh
# Makes real.xml and suitefail.xml with Debian's libcunit1-dev. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/cunit; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > test_stack.c <<'T'
#include <CUnit/Automated.h>
#include <string.h>
static int fine(void) { return 0; }
static int broken(void) { return 1; }
static void pushes(void) { CU_ASSERT_EQUAL(1 + 1, 2); }
static void pops(void) { CU_ASSERT_EQUAL(1 + 1, 3); CU_ASSERT_STRING_EQUAL("a<b", "c&d"); CU_ASSERT_TRUE(1); }
static void stops(void) { CU_ASSERT_FATAL(strlen("x") > 3); CU_ASSERT(0); }
static void never(void) { CU_PASS("not reached"); }
int main(int argc, char **argv) {
    CU_pSuite s;
    CU_initialize_registry();
    s = CU_add_suite("Stack", fine, fine);
    CU_add_test(s, "pushes", pushes); CU_add_test(s, "pops", pops); CU_add_test(s, "stops", stops);
    CU_set_test_active(CU_add_test(s, "asleep", never), CU_FALSE);
    if (argc > 1) {
        s = CU_add_suite("Database", broken, fine); CU_add_test(s, "never runs", never);
        s = CU_add_suite("Cleaner", fine, broken); CU_add_test(s, "runs", pushes);
    }
    CU_set_output_filename("real");
    CU_automated_run_tests();
    CU_cleanup_registry();
    return 0;
}
T
gcc test_stack.c -o test_stack -lcunit
./test_stack; sed -E 's#(v2.1-3 - ).*#\1Tue Jan  2 03:04:05 2024#' real-Results.xml > "$out/real.xml"
./test_stack x; sed -E 's#(v2.1-3 - ).*#\1Tue Jan  2 03:04:05 2024#' real-Results.xml > "$out/suitefail.xml"
