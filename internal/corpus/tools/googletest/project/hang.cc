#include <gtest/gtest.h>
#include <thread>
TEST(Hang, Works) { EXPECT_TRUE(true); }
TEST(Hang, Hangs) { std::this_thread::sleep_for(std::chrono::seconds(60)); }
