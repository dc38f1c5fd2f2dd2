#!/bin/sh
# Makes *.xml with Debian's cmake. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/ctestxml; rm -rf "$work"; mkdir -p "$work/b"; cd "$work"
cat > CMakeLists.txt <<'T'
cmake_minimum_required(VERSION 3.13)
project(p NONE)
include(CTest)
add_test(NAME passes COMMAND sh -c "echo fine")
if(NOT GREEN)
add_test(NAME fails COMMAND sh -c "echo 'sum_test.c:3: expected 3, got 2'; exit 3")
add_test(NAME hangs COMMAND sleep 9)
set_tests_properties(hangs PROPERTIES TIMEOUT 1)
add_test(NAME crashes COMMAND sh -c "kill -SEGV $$")
add_test(NAME missing COMMAND /proj/no/such/program)
add_test(NAME skips COMMAND sh -c "exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME off COMMAND true)
set_tests_properties(off PROPERTIES DISABLED TRUE)
add_test(NAME matches COMMAND sh -c "echo ERROR")
set_tests_properties(matches PROPERTIES FAIL_REGULAR_EXPRESSION ERROR)
add_test(NAME base COMMAND false)
set_tests_properties(base PROPERTIES FIXTURES_SETUP db)
add_test(NAME needs COMMAND true)
set_tests_properties(needs PROPERTIES FIXTURES_REQUIRED db)
endif()
T
run() { rm -rf b; mkdir b; cd b; cmake "$2" .. >/dev/null; ctest -T Test --no-compress-output >/dev/null 2>&1 || true
  sed -E 's#/tmp/proj#/proj#g; s#(Name|Hostname|BuildStamp|OSRelease|OSVersion|OSPlatform|VendorString|VendorID|ModelName|FamilyID|ModelID|ProcessorCacheSize|NumberOf[A-Za-z]*|TotalVirtualMemory|TotalPhysicalMemory|LogicalProcessorsPerPhysical|ProcessorClockFrequency)="[^"]*"#\1="x"#g; s#<(StartDateTime|EndDateTime)>[^<]*#<\1>Jan 02 03:04 UTC#; s#<(StartTestTime|EndTestTime)>[^<]*#<\1>1704164645#; s#<Value>[0-9]+\.[0-9e-]+</Value>#<Value>0.01</Value>#' Testing/*/Test.xml > "$out/$1.xml"; cd ..; }
run failing -DGREEN=OFF
run green -DGREEN=ON
