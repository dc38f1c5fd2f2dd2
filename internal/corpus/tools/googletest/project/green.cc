#include <gtest/gtest.h>
TEST(Green, Adds) { EXPECT_EQ(1 + 1, 2); }
TEST(Green, Skipped) { GTEST_SKIP(); }
TEST(Other, Dies) { EXPECT_DEATH({ fprintf(stderr, "fatal error\n"); abort(); }, "fatal"); }
TEST(Other, DISABLED_Later) { FAIL(); }
