// Package format says what a format is and keeps the registry of those that are known.
package format
