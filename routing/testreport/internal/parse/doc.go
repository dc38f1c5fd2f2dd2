// Package parse reads numbers, durations, paths and words out of text.
package parse
