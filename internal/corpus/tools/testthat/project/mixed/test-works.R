test_that("works too", {
  expect_true(TRUE)
  expect_false(FALSE)
})
