#!/bin/sh
# Writes what CTest (Debian: cmake) prints for a small project.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
cat > main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
	const char *m = argc > 1 ? argv[1] : "";
	if (!strcmp(m, "fail")) { puts("setting up"); fputs("main.c:9: expected 2, got 1\n", stderr); return 1; }
	if (!strcmp(m, "segv")) { int *p = 0; *p = 1; }
	if (!strcmp(m, "abort")) abort();
	if (!strcmp(m, "sleep")) sleep(10);
	if (!strcmp(m, "skip")) return 77;
	if (!strcmp(m, "flaky")) { if (access("flag", F_OK)) { fclose(fopen("flag", "w")); return 1; } }
	return 0;
}
EOF
cat > CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(demo C)
enable_testing()
add_executable(main main.c)
add_test(NAME passes COMMAND main)
add_test(NAME "fails with a name.of parts" COMMAND main fail)
add_test(NAME segv COMMAND main segv)
add_test(NAME aborts COMMAND main abort)
add_test(NAME slow COMMAND main sleep)
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(NAME skips COMMAND main skip)
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME disabled COMMAND main)
set_tests_properties(disabled PROPERTIES DISABLED TRUE)
add_test(NAME missing COMMAND no_such_program)
add_test(NAME output COMMAND main)
set_tests_properties(output PROPERTIES PASS_REGULAR_EXPRESSION "hello")
add_test(NAME flaky COMMAND main flaky)
add_test(NAME needs COMMAND main)
add_test(NAME fixture COMMAND main fail)
set_tests_properties(fixture PROPERTIES FIXTURES_SETUP db)
set_tests_properties(needs PROPERTIES FIXTURES_REQUIRED db)
EOF
cmake -S . -B build >/dev/null && cmake --build build >/dev/null && cd build || exit 1
clean() { sed "s#$dir#/work/demo#g"; }
ctest 2>&1 | clean > "$here/failing.txt"
rm -f flag; ctest --output-on-failure -j2 2>&1 | clean > "$here/output.txt"
rm -f flag; ctest -V -E slow 2>&1 | clean > "$here/verbose.txt"
rm -f flag; ctest --repeat until-pass:3 -R 'passes|flaky' 2>&1 | clean > "$here/repeat.txt"
ctest -R 'passes|skips' 2>&1 | clean > "$here/green.txt"
ctest -R nothing_at_all 2>&1 | clean > "$here/empty.txt"
ctest -Q -R 'fails' 2>&1 | clean > "$here/quiet.txt"
[ -s "$here/quiet.txt" ] || rm -f "$here/quiet.txt"
rm -rf "$dir"
