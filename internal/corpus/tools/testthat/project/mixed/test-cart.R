total <- function() 3

test_that("works", {
  expect_equal(total(), 3)
})

test_that("adds up", {
  expect_equal(total(), 4)
})

test_that("several", {
  expect_equal(c(1, 2, 3), c(1, 2, 4))
  expect_true(total() > 5)
  expect_identical("a", "b", label = "größer – €")
})

test_that("stops", {
  stop("no card")
})

test_that("calls what is missing", {
  no_such_function()
})

test_that("is skipped", {
  skip("no network")
})

test_that("warns", {
  warning("careful")
  expect_true(TRUE)
})

test_that("is empty", {
})

test_that("expects an error", {
  expect_error(total())
})

helper <- function(x) expect_lt(x, 2)

test_that("uses a helper", {
  helper(total())
})

describe("a cart", {
  it("is paid", {
    expect_null(total())
  })
  it("is not written yet")
})

test_that("größer", {
  fail("on purpose")
})

stopifnot(total() == 3)
