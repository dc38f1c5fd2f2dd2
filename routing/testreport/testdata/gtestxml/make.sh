#!/bin/sh
# Makes *.xml with Debian's libgtest-dev. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/gtestxml; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > sum_test.cc <<'T'
#include <gtest/gtest.h>
#include <stdexcept>
TEST(Sum, Adds) { EXPECT_EQ(2, 1 + 1); }
TEST(Sum, Subtracts) { EXPECT_EQ(3, 1 + 1) << "a < b"; EXPECT_STREQ("x", "y"); }
TEST(Sum, Throws) { throw std::runtime_error("no luck"); }
TEST(Sum, Skips) { GTEST_SKIP() << "not here"; }
TEST(Sum, DISABLED_Later) { FAIL(); }
class Rows : public testing::TestWithParam<int> {};
TEST_P(Rows, Small) { EXPECT_LT(GetParam(), 2); }
INSTANTIATE_TEST_SUITE_P(All, Rows, testing::Values(1, 2));
template <class T> class Typed : public testing::Test {};
TYPED_TEST_SUITE(Typed, ::testing::Types<int>);
TYPED_TEST(Typed, Holds) { SUCCEED(); }
class Broken : public testing::Test { protected: static void SetUpTestSuite() { if (getenv("BROKEN")) FAIL() << "no database"; } };
TEST_F(Broken, Runs) {}
T
g++ sum_test.cc -o t -lgtest -lgtest_main -lpthread
run() { f=$1; shift; env "$@" ./t --gtest_output=xml:$f.xml >/dev/null 2>&1 || true
  sed -E 's#time="[0-9.]+"#time="0.001"#g; s#timestamp="[^"]*"#timestamp="2024-01-02T03:04:05.000"#g' "$f.xml" > "$out/$f.xml"; }
run failing A=1
run broken BROKEN=1
./t --gtest_filter=Sum.Adds:Sum.Skips --gtest_output=xml:green.xml >/dev/null; sed -E 's#time="[0-9.]+"#time="0.001"#g; s#timestamp="[^"]*"#timestamp="2024-01-02T03:04:05.000"#g' green.xml > "$out/green.xml"
