// Package failtext finds out of the text of a failure what failed and where: the message, the type,
// the place, the two sides of an assertion; and checks totals against the tests that were read.
package failtext
