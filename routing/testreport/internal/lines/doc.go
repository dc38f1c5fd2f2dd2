// Package lines decodes an input and cleans the lines of a log: encodings, time stamps, ANSI
// sequences, control and invisible characters.
package lines
