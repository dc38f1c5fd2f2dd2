#include <gtest/gtest.h>
TEST(Compile, Fails) { EXPECT_EQ(unknown(), 2); }
