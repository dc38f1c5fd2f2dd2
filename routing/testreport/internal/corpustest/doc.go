// Package corpustest holds what the tests of several formats share: files, job logs, expectations.
package corpustest
