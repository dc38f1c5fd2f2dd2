library(noSuchPackage)

test_that("never runs", {
  expect_true(TRUE)
})
