#include <gtest/gtest.h>
TEST(Crash, Works) { EXPECT_TRUE(true); }
TEST(Crash, Fails) { EXPECT_EQ(1, 2); }
TEST(Crash, Dies) { volatile int *p = nullptr; *p = 1; }
TEST(Crash, NeverRuns) { EXPECT_TRUE(true); }
