// Package reader detects the format of an input and reads it: a document with the format that is
// surest of it, a log line by line with the consoles of all formats at once.
package reader
