#!/bin/sh
# Makes *.xml with Debian's valgrind. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/valgrind; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > bad.c <<'T'
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
static char *leak(void) { return malloc(10); }
int main(int argc, char **argv) {
    int *p = malloc(sizeof *p), x;
    if (argc > 1 && !strcmp(argv[1], "crash")) { *(volatile int *)0 = 1; }
    if (argc > 1 && !strcmp(argv[1], "clean")) { free(p); return 0; }
    free(p);
    leak();
    if (x > 3) puts("never mind");
    return *p == 7;
}
T
cat > race.c <<'T'
#include <pthread.h>
static int n;
static void *add(void *_) { n++; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, add, 0); n++; pthread_join(t, 0); return 0; }
T
gcc -g -O0 bad.c -o bad; gcc -g -O0 race.c -o race -lpthread
run() { f=$1; shift; valgrind --xml=yes --xml-file="$f.xml" "$@" >/dev/null 2>&1 || true
  sed -E 's#<(p?pid)>[0-9]+#<\1>4711#; s#/tmp/proj#/proj#g; s#<time>[^<]*#<time>00:00:00:00.100 #' "$f.xml" > "$out/$f.xml"; }
run errors --leak-check=full ./bad
run clean --leak-check=full ./bad clean
run crash ./bad crash
run race --tool=helgrind ./race
