package dotnet

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// dotNetType is the exception that .NET runners put before the message.
var dotNetType = lazyregexp.New(`^(?:(?:OneTime)?(?:SetUp|TearDown) ?: )?([A-Za-z_][\w.+` + "`" + `]*(?:Exception|Error)) ?: `)

// splitMember parts the full name of a method, with its arguments, at the last
// dot outside brackets and quotes.
func splitMember(full string) (class, name string) {
	depth, dot := 0, -1
	var quote byte
	for i := 0; i < len(full); i++ {
		c := full[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' && depth > 0:
			quote = c
		case c == '(' || c == '[' || c == '<':
			depth++
		case c == ')' || c == ']' || c == '>':
			depth = max(0, depth-1)
		case c == '.' && depth == 0:
			dot = i
		case c == ' ' && depth == 0:
			if strings.HasPrefix(full[i:], " (") { // arguments
				return cutMember(full, dot)
			}
			return "", full // a sentence
		}
	}
	return cutMember(full, dot)
}

func cutMember(full string, dot int) (class, name string) {
	if dot <= 0 || dot == len(full)-1 {
		return "", full
	}
	return full[:dot], full[dot+1:]
}
