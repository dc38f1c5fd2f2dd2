#include <gtest/gtest.h>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int total() { return 3; }
static void helper(int n) { EXPECT_EQ(n, 7) << "in the helper"; }

TEST(Cart, Works) { EXPECT_EQ(total(), 3); }
TEST(Cart, Assertion) {
  EXPECT_EQ(total(), 4);
}
TEST(Cart, Fatal) {
  ASSERT_TRUE(total() > 3) << "total is " << total();
  FAIL() << "never reached";
}
TEST(Cart, Several) {
  EXPECT_LT(total(), 2);
  EXPECT_STREQ("a\nb", "a\nc");
  EXPECT_NEAR(1.0, 1.5, 0.1);
}
TEST(Cart, Exception) {
  throw std::runtime_error("no card");
}
TEST(Cart, UnknownException) {
  throw 7;
}
TEST(Cart, NoThrow) {
  EXPECT_THROW(total(), std::out_of_range);
}
TEST(Cart, Vector) {
  EXPECT_EQ((std::vector<int>{1, 2}), (std::vector<int>{1, 3}));
}
TEST(Cart, Skipped) {
  GTEST_SKIP() << "no network";
}
TEST(Cart, DISABLED_Later) { FAIL(); }
TEST(Cart, Trace) {
  for (int i = 6; i < 9; i++) {
    SCOPED_TRACE("round " + std::to_string(i));
    helper(i);
  }
}
TEST(Cart, Explicit) {
  ADD_FAILURE() << "Value of: x\n  Actual: größe €";
}
TEST(Cart, Multiline) {
  EXPECT_EQ(std::string("one\ntwo\nthree\n"), std::string("one\nzwei\nthree\n"));
}

class Database : public ::testing::Test {
 protected:
  void SetUp() override { FAIL() << "no database"; }
};
TEST_F(Database, Reads) { EXPECT_TRUE(true); }
TEST_F(Database, Writes) { EXPECT_TRUE(true); }

class Closing : public ::testing::Test {
 protected:
  void TearDown() override { ADD_FAILURE() << "cannot close"; }
};
TEST_F(Closing, Opens) { EXPECT_TRUE(true); }

class Odd : public ::testing::TestWithParam<int> {};
TEST_P(Odd, IsOdd) { EXPECT_EQ(GetParam() % 2, 1); }
INSTANTIATE_TEST_SUITE_P(Numbers, Odd, ::testing::Values(1, 2, 3, 4));

template <typename T>
class Typed : public ::testing::Test {};
using Types = ::testing::Types<int, char>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, IsLarge) { EXPECT_GT(sizeof(TypeParam), 1u); }

TEST(CartDeathTest, Dies) { EXPECT_DEATH(total(), "gone"); }
TEST(Deutsch, Größe) { EXPECT_EQ(total(), 5); }
