#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

static int total() { return 3; }

TEST_CASE("adds up", "[cart]") {
  REQUIRE(total() == 4);
}
TEST_CASE("works", "[cart]") { CHECK(total() == 3); }
TEST_CASE("several", "[cart]") {
  CHECK(total() == 5);
  CHECK(std::string("a\nb") == "a\nc");
  CHECK_FALSE(total() == 3);
}
TEST_CASE("throws", "[cart]") {
  throw std::runtime_error("no card");
}
TEST_CASE("throws what is unknown") {
  throw 7;
}
TEST_CASE("does not throw") {
  REQUIRE_THROWS_AS(total(), std::out_of_range);
}
TEST_CASE("should not throw") {
  REQUIRE_NOTHROW([] { throw std::logic_error("thrown"); }());
}
TEST_CASE("sections") {
  std::vector<int> v(3);
  SECTION("grows") {
    v.resize(5);
    REQUIRE(v.size() == 6);
  }
  SECTION("shrinks") {
    v.resize(1);
    REQUIRE(v.size() == 1);
    SECTION("to nothing") {
      v.clear();
      REQUIRE(v.size() == 9);
    }
  }
}
TEST_CASE("may fail", "[!mayfail]") { CHECK(total() == 8); }
TEST_CASE("should fail", "[!shouldfail]") { CHECK(total() == 8); }
TEST_CASE("should fail but works", "[!shouldfail]") { CHECK(total() == 3); }
TEST_CASE("hidden", "[.]") { FAIL("hidden"); }
TEST_CASE("größer – €") {
  INFO("the total is " << total());
  CAPTURE(total());
  FAIL("on purpose\nsecond line");
}
TEST_CASE("generated") {
  auto n = GENERATE(1, 2, 3);
  REQUIRE(n != 2);
}
TEMPLATE_TEST_CASE("typed", "", int, char) {
  REQUIRE(sizeof(TestType) > 1);
}
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
TEST_CASE_METHOD(Fixture, "reads") { CHECK(true); }
TEST_CASE("warns") { WARN("error: only a warning"); CHECK(true); }
TEST_CASE("matches") {
  REQUIRE_THAT(std::string("one two"), Catch::Contains("three"));
}
TEST_CASE("a very long name of a test case that the console reporter has to wrap because it is longer than one line") {
  CHECK(total() == 10);
}
