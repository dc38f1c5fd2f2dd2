// Package xmlstream reads XML token by token in bounded memory.
package xmlstream
