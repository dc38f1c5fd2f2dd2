package parse

import (
	"strings"
)

// Location reads "path:line" or "path:line:column", as compilers, Node and
// Python print it, and returns what is left of it.
func Location(s string) (file string, line, col int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, 0, false
	}
	n, rest, isNum := LeadingInt(s[i+1:])
	if !isNum || rest != "" {
		return "", 0, 0, false
	}
	j := strings.LastIndexByte(s[:i], ':')
	if j > 0 {
		if m, rest, isNum := LeadingInt(s[j+1 : i]); isNum && rest == "" {
			return s[:j], m, n, true
		}
	}
	return s[:i], n, 0, true
}

// Foreign reports whether a path lies outside the project: installed
// packages, the interpreter's or the runtime's own files.
func Foreign(path string) bool {
	for _, s := range [...]string{"site-packages/", "dist-packages/", "/lib/python", "node_modules/", "node:", "<frozen", "internal/", "/rustc/", ".cargo/registry", "library/std/", "library/core/"} {
		if strings.Contains(path, s) {
			return true
		}
	}
	return strings.HasPrefix(path, "<") || strings.HasPrefix(path, "native") || strings.HasPrefix(path, "ext:") // of deno
}

// IsScript reports whether a path ends as the source of a JavaScript test.
func IsScript(file string) bool {
	i := strings.LastIndexByte(file, '.')
	if i <= 0 {
		return false
	}
	switch file[i+1:] {
	case "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "es6", "coffee":
		return true
	}
	return false
}
