#!/bin/sh
# Writes what GoogleTest (Debian: libgtest-dev) prints for a small program.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
cat > calc_test.cc <<'EOF'
#include <gtest/gtest.h>
#include <cstdlib>
#include <stdexcept>
static int add(int a, int b) { return a + b; }
TEST(Calc, Adds) { EXPECT_EQ(add(1, 1), 2); }
TEST(Calc, Wrong) { EXPECT_EQ(add(1, 1), 3) << "one and one"; EXPECT_TRUE(false); }
TEST(Calc, Throws) { throw std::runtime_error("no such sum"); }
TEST(Calc, Skips) { GTEST_SKIP() << "not today"; }
TEST(Calc, DISABLED_Later) { FAIL(); }
class Param : public testing::TestWithParam<int> {};
TEST_P(Param, IsEven) { EXPECT_EQ(GetParam() % 2, 0); }
INSTANTIATE_TEST_SUITE_P(Few, Param, testing::Values(2, 3));
struct Setup : testing::Test { void SetUp() override { FAIL() << "no database"; } };
TEST_F(Setup, NeverRuns) {}
template <typename T> struct Typed : testing::Test {};
typedef testing::Types<int, char> Both; TYPED_TEST_SUITE(Typed, Both);
TYPED_TEST(Typed, Wide) { EXPECT_EQ(sizeof(TypeParam), 4u); }
TEST(Death, Dies) { EXPECT_DEATH(std::abort(), "other text"); }
TEST(ZCrash, Crashes) { if (getenv("CRASH")) { int *p = nullptr; *p = 1; } }
struct SuiteSetup : testing::Test { static void SetUpTestSuite() { if (getenv("SUITE")) FAIL() << "no suite"; } };
TEST_F(SuiteSetup, Runs) {}
EOF
g++ -O0 -o calc_test calc_test.cc -lgtest -lgtest_main -pthread || exit 1
clean() { sed "s#$dir/##g; s#0x[0-9a-f]\{8,\}#0x7f00#g"; }
./calc_test 2>&1 | clean > "$here/failing.txt"
SUITE=1 ./calc_test --gtest_filter='SuiteSetup.*' 2>&1 | clean > "$here/suite.txt"
./calc_test --gtest_filter='Calc.Adds:Few*0' 2>&1 | clean > "$here/green.txt"
CRASH=1 ./calc_test --gtest_filter='Calc.Adds:ZCrash*' 2>&1 | clean > "$here/crash.txt"
./calc_test --gtest_brief=1 --gtest_filter='Calc.*' 2>&1 | clean > "$here/brief.txt"
./calc_test --gtest_repeat=2 --gtest_filter='Calc.Adds:Calc.Wrong' 2>&1 | clean > "$here/repeat.txt"
./calc_test --gtest_filter='None.*' 2>&1 | clean > "$here/empty.txt"
rm -rf "$dir"
