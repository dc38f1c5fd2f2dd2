#include <gtest/gtest.h>
#include <cassert>
TEST(Crash, Works) { EXPECT_TRUE(true); }
TEST(Crash, Asserts) { int n = 1; assert(n == 2); }
