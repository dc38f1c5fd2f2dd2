// Package bounded keeps text of any length in bounded memory: its beginning and its end.
package bounded
