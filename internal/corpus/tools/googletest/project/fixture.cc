#include <gtest/gtest.h>
class Suite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { FAIL() << "no server"; }
};
TEST_F(Suite, One) { EXPECT_TRUE(true); }
TEST_F(Suite, Two) { EXPECT_TRUE(true); }
class Env : public ::testing::Environment {
 public:
  void SetUp() override { }
  void TearDown() override { ADD_FAILURE() << "environment is dirty"; }
};
static auto *env = ::testing::AddGlobalTestEnvironment(new Env);
