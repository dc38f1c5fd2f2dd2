#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

static int total() { return 3; }

TEST_CASE("works") { CHECK(total() == 3); }
TEST_CASE("adds up") {
  REQUIRE(total() == 4);
}
TEST_CASE("several") {
  CHECK(total() == 5);
  CHECK(std::string("a\nb") == "a\nc");
  CHECK_FALSE(total() == 3);
  CHECK_EQ(total(), 6);
}
TEST_CASE("throws") {
  throw std::runtime_error("no card");
}
TEST_CASE("throws what is unknown") {
  throw 7;
}
TEST_CASE("does not throw") {
  REQUIRE_THROWS_AS(total(), std::out_of_range);
}
TEST_CASE("should not throw") {
  CHECK_NOTHROW([] { throw std::logic_error("thrown"); }());
}
TEST_SUITE("collections") {
  TEST_CASE("sections") {
    std::vector<int> v(3);
    SUBCASE("grows") {
      v.resize(5);
      REQUIRE(v.size() == 6);
    }
    SUBCASE("shrinks") {
      v.resize(1);
      SUBCASE("to nothing") {
        v.clear();
        REQUIRE(v.size() == 9);
      }
    }
  }
}
TEST_CASE("may fail" * doctest::may_fail()) { CHECK(total() == 8); }
TEST_CASE("should fail" * doctest::should_fail()) { CHECK(total() == 8); }
TEST_CASE("should fail but works" * doctest::should_fail()) { CHECK(total() == 3); }
TEST_CASE("expected failures" * doctest::expected_failures(2)) { CHECK(total() == 8); }
TEST_CASE("skipped" * doctest::skip()) { FAIL("skipped"); }
TEST_CASE("größer – €") {
  INFO("the total is ", total());
  CAPTURE(total());
  FAIL("on purpose");
}
TEST_CASE("too slow" * doctest::timeout(0.000000001)) { CHECK(true); }
TEST_CASE_TEMPLATE("typed", T, int, char) { CHECK(sizeof(T) > 1); }
SCENARIO("a cart is paid") {
  GIVEN("a cart") {
    int n = total();
    WHEN("it is paid") {
      n = 0;
      THEN("it is empty") {
        REQUIRE(n == 1);
      }
    }
  }
}
struct Fixture {
  Fixture() { throw std::runtime_error("no database"); }
};
TEST_CASE_FIXTURE(Fixture, "reads") { CHECK(true); }
TEST_CASE("warns") { WARN(total() == 9); MESSAGE("error: only a message"); CHECK(true); }
TEST_CASE("same") { CHECK(total() == 10); }
TEST_CASE("same") { CHECK(total() == 11); }
