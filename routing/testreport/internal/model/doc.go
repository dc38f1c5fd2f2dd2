// Package model holds what every format reads into and the public package shows: tests, problems,
// diagnostics, the report, its limits, and the Sink that takes them.
package model
