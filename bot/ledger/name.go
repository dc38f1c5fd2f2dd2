package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// A file's name is the key, so written that no two keys share a name on any
// file system (none that ignores case, composes Unicode or reserves names), none
// leaves its directory, and no text of it is a reference or a mention on GitHub:
//
//	a-z 0-9 - _   themselves
//	A-Z           ! and the lower-case letter, as the Go module cache does
//	/  #          +  =
//	.  @          themselves between two letters or digits
//	all else      ~ and two hexadecimal digits for each byte
//
// A name too long is cut and ends in ~~ and a hash of the key; then only the
// file itself tells its key.
const (
	extension = ".jsonl"
	maxName   = 120 // without extension
	cutName   = 60
)

// reserved are the names that Windows keeps for devices, whatever follows a dot.
var reserved = lazyregexp.New(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// FileName returns the name of the file that holds the stream of key, e.g.
// "acme+app=12.jsonl" for "acme/app#12". Different keys have names that differ
// by more than the case of letters.
func FileName(key string) string {
	var b strings.Builder
	for i := range len(key) {
		writeByte(&b, key, i)
	}
	name := b.String()
	if reserved.MatchString(name) {
		name = fmt.Sprintf("~%02x%s", name[0], name[1:])
	}
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(key))
		name = name[:cutName] + "~~" + hex.EncodeToString(sum[:16])
	}
	return name + extension
}

func writeByte(b *strings.Builder, key string, i int) {
	c := key[i]
	switch {
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		b.WriteByte(c)
	case 'A' <= c && c <= 'Z':
		b.WriteByte('!')
		b.WriteByte(c - 'A' + 'a')
	case c == '/':
		b.WriteByte('+')
	case c == '#':
		b.WriteByte('=')
	case (c == '.' || c == '@') && i > 0 && i < len(key)-1 && alphanumeric(key[i-1]) && alphanumeric(key[i+1]):
		b.WriteByte(c)
	default:
		fmt.Fprintf(b, "~%02x", c)
	}
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// KeyOf returns the key whose file has this name. It is "" for a name that was
// cut, whose file has to be read (see KeyIn); ours is false for a name that
// FileName never returns.
func KeyOf(file string) (key string, ours bool) {
	name, ok := strings.CutSuffix(file, extension)
	if !ok {
		return "", false
	}
	if len(name) == cutName+2+32 && name[cutName:cutName+2] == "~~" {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '!' && i+1 < len(name):
			i++
			b.WriteString(strings.ToUpper(name[i : i+1]))
		case c == '~' && i+2 < len(name):
			n, err := strconv.ParseUint(name[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			i += 2
			b.WriteByte(byte(n))
		case c == '+':
			b.WriteByte('/')
		case c == '=':
			b.WriteByte('#')
		default:
			b.WriteByte(c)
		}
	}
	key = b.String()
	return key, CheckKey(key) == nil && FileName(key) == file
}
