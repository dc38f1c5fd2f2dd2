// Package jsonstream reads JSON value by value in bounded memory.
package jsonstream
