package steps

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed roles.txt
var rolesText string

// Entries of roles.txt that are no roles.
const (
	byName  Role = "name"
	through Role = "through"
	none    Role = "none"
)

// roleTable is roles.txt.
type roleTable struct {
	commands map[string]map[string]Role // command → subcommand → role; "" for the others
	actions  map[string]Role
	words    map[string]Role
}

var roles = sync.OnceValue(func() roleTable {
	t := roleTable{map[string]map[string]Role{}, map[string]Role{}, map[string]Role{}}
	for line := range strings.Lines(rolesText) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] == "#" {
			continue
		}
		table, role, ok := strings.Cut(f[0], "/")
		switch {
		case !ok:
			subs := t.commands[f[1]]
			if subs == nil {
				subs = map[string]Role{}
				t.commands[f[1]] = subs
			}
			if len(f) == 2 {
				if _, ok := subs[""]; !ok || Role(table) == byName || Role(table) == through {
					subs[""] = Role(table)
				}
			}
			for _, s := range f[2:] {
				subs[s] = Role(table)
			}
		case table == "action":
			t.actions[f[1]] = Role(role)
		default:
			for _, w := range f[1:] {
				t.words[w] = Role(role)
			}
		}
	}
	return t
})

// strength orders roles: of a script with several commands, the role is that of its purpose.
var strength = map[Role]int{Unknown: 0, Fetch: 1, Install: 2, Package: 3, Deploy: 4, Compile: 5, Lint: 6, Test: 7}

func stronger(a, b Role) Role {
	if strength[b] > strength[a] {
		return b
	}
	return a
}

// RoleOf returns the role of a command line or of a script: that of its purpose, where commands
// of several roles run.
func RoleOf(command string) Role {
	var role Role
	for line := range strings.Lines(command) {
		for _, words := range simpleCommands(line) {
			role = stronger(role, roleOfWords(words, 0))
		}
	}
	return role
}

// knownCommand reports whether the first word of a line is one that the table or a shell knows.
func knownCommand(line string) bool {
	commands := simpleCommands(line)
	if len(commands) == 0 {
		return false
	}
	words := commands[0]
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return true // only assignments
	}
	w := words[0]
	if strings.HasPrefix(w, "./") || strings.HasPrefix(w, "/") || strings.HasPrefix(w, "../") || shellWords[w] || scriptName(w) {
		return true
	}
	_, ok := roles().commands[baseName(w)]
	return ok
}

// KnownProgram reports whether name is that of a program which scripts of CI jobs commonly run.
func KnownProgram(name string) bool {
	if shellWords[name] {
		return true
	}
	subs, ok := roles().commands[name]
	return ok && subs[""] != byName
}

// shellWords are commands of shells and of every system, whose role is unknown.
var shellWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`cd echo export set unset test [ [[ mkdir rm cp mv ln cat ls source . eval exit return
		pushd popd chmod chown touch sleep printf read local declare trap ulimit umask true false find grep sed awk xargs
		head tail sort uniq wc tee date uname whoami hostname id df free kill wait jobs which type alias shift for while until case function
		java python python3 node ruby php perl go cargo mvn gradle systemctl service mysql psql createdb redis-server diff cmp tr cut basename dirname realpath readlink mktemp
		openssl base64 sha256sum md5sum jq yq unzip gunzip bunzip2 xz lsb_release update-alternatives locale-gen useradd su gpg docker-compose travis_cmd travis_setup_env`) {
		m[w] = true
	}
	return m
}()

// idle reports whether a command cannot be why a job failed, although it is the last one echoed.
func idle(command string) bool {
	switch word, _, _ := strings.Cut(command, " "); word {
	case "exit", "echo", "set", "cd", "export", "true", "trap", "return", "test", "[", "[[", "unset", "popd", "cleanup", "kill", "wait":
		return true
	}
	return false
}

func isAssignment(w string) bool {
	i := strings.IndexByte(w, '=')
	if i <= 0 {
		return false
	}
	for _, c := range w[:i] {
		if c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}

func baseName(w string) string {
	w = strings.ReplaceAll(w, `\`, "/")
	w = path.Base(w)
	for _, ext := range []string{".exe", ".cmd", ".bat", ".phar"} {
		w = strings.TrimSuffix(w, ext)
	}
	return w
}

// simpleCommands splits a line of a script at operators of the shell, and each command into words
// without quotes.
func simpleCommands(line string) [][]string {
	var all [][]string
	var words []string
	var word strings.Builder
	var quote rune
	endWord := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			all = append(all, words)
			words = nil
		}
	}
	for _, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ';' || c == '|' || c == '&' || c == '(' || c == ')' || c == '`' || c == '\n' || c == '\r':
			endCommand()
		case c == ' ' || c == '\t':
			endWord()
		case c == '#' && word.Len() == 0 && len(words) == 0:
			endCommand()
			return all // a comment
		default:
			word.WriteRune(c)
		}
	}
	endCommand()
	return all
}

// roleOfWords returns the role of one command.
func roleOfWords(words []string, depth int) Role {
	for len(words) > 0 && (isAssignment(words[0]) || words[0] == "{" || words[0] == "else") {
		words = words[1:]
	}
	if len(words) == 0 || depth > 6 {
		return Unknown
	}
	if role, ok := roles().actions[actionName(words[0])]; ok {
		return role
	}
	if n := actionName(words[0]); n != "" {
		if strings.Contains(n, "/setup-") {
			return Install
		}
		return roleOfName(n)
	}
	name, rest := baseName(words[0]), words[1:]
	subs, ok := roles().commands[name]
	if !ok && strings.HasPrefix(name, "python") { // python3.12
		subs, ok = roles().commands["python"]
	}
	if !ok {
		if strings.Contains(words[0], "/") || scriptName(words[0]) {
			return roleOfName(strings.TrimSuffix(name, path.Ext(name)))
		}
		return Unknown
	}
	var role Role
	for i, w := range rest {
		r, ok := subs[w]
		if !ok || strings.HasPrefix(w, "-") && i > 3 {
			continue
		}
		switch r {
		case through:
			return roleOfWords(skipOptions(rest[i+1:]), depth+1)
		case byName:
			if r = roleOfTargets(rest[i+1:], name); r == Unknown && subs[""] != byName && subs[""] != through {
				r = subs[""]
			}
		}
		role = stronger(role, r)
		if !manyGoals[name] {
			return role
		}
	}
	if role != Unknown {
		if name == "mvn" && skipsTests(rest) {
			return Package
		}
		return role
	}
	switch r := subs[""]; r {
	case through:
		return roleOfWords(skipOptions(rest), depth+1)
	case byName:
		if role = roleOfTargets(rest, name); role == Unknown && (name == "make" || name == "ninja" || name == "gmake" || name == "mingw32-make") && len(targetsOf(rest)) == 0 {
			role = Compile
		}
		return role
	default:
		return r
	}
}

// manyGoals are commands whose arguments are goals, several of which can be given.
var manyGoals = map[string]bool{"mvn": true, "mvnw": true, "xcodebuild": true, "sbt": true}

func skipsTests(words []string) bool {
	for _, w := range words {
		if strings.HasPrefix(w, "-DskipTests") && w != "-DskipTests=false" || strings.HasPrefix(w, "-Dmaven.test.skip") && !strings.HasSuffix(w, "false") {
			return true
		}
	}
	return false
}

// actionName returns the name of an action in owner/name@version, "" if w is none.
func actionName(w string) string {
	name, _, ok := strings.Cut(w, "@")
	if !ok || !strings.Contains(name, "/") || strings.HasPrefix(name, ".") {
		return ""
	}
	return name
}

func scriptName(w string) bool {
	switch path.Ext(w) {
	case ".sh", ".bash", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".php", ".ps1", ".bat", ".cmd":
		return true
	}
	return false
}

// skipOptions drops the options of a command that runs another, and their numbers.
func skipOptions(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		if w == "-m" || w == "-c" && len(words) > 1 {
			if w == "-c" {
				return strings.Fields(words[1])
			}
			return words[1:]
		}
		if !strings.HasPrefix(w, "-") && !isAssignment(w) && !isDuration(w) {
			return words
		}
		words = words[1:]
	}
	return words
}

func isDuration(w string) bool { return w != "" && strings.Trim(w, "0123456789.smh") == "" }

func targetsOf(words []string) []string {
	var out []string
	for _, w := range words {
		if !strings.HasPrefix(w, "-") && !isAssignment(w) && !isDuration(w) && !strings.ContainsAny(w, "><$") {
			out = append(out, w)
		}
	}
	return out
}

// roleOfTargets returns the strongest role of the names among the arguments of a build tool.
func roleOfTargets(words []string, tool string) Role {
	var role Role
	gradle := tool == "gradle" || tool == "gradlew"
	for i, w := range targetsOf(words) {
		if i > 6 {
			break
		}
		if j := slices.Index(words, w); gradle && j > 0 && (words[j-1] == "-x" || words[j-1] == "--exclude-task") {
			continue
		}
		r := roleOfName(w)
		if goal := w[strings.LastIndexByte(w, ':')+1:]; gradle && (goal == "build" || goal == "check") {
			r = Test
		}
		role = stronger(role, r)
		if tool == "npm" || tool == "yarn" || tool == "pnpm" || tool == "composer" {
			break // what follows a script are its arguments
		}
	}
	return role
}

// roleOfName returns the role that the name of a step, target or script states.
func roleOfName(name string) Role {
	var role Role
	if name == "" {
		return role
	}
	t := roles()
	for _, w := range nameWords(name) {
		r := t.words[w]
		if r == none {
			return Unknown
		}
		if r == Unknown {
			r = t.commands[w][""] // byName and through are weaker than every role
		}
		if compiles[w] { // compileTestJava, test-compile
			return Compile
		}
		role = stronger(role, r)
	}
	switch lower := strings.ToLower(name); {
	case role != Unknown:
	case strings.HasPrefix(lower, "set up "):
		return Install
	case lower == "check": // of make, as autotools name the target of tests
		return Test
	}
	return role
}

// compiles are the words that tell what a name means whatever else is in it.
var compiles = map[string]bool{"compile": true, "compilation": true, "classes": true, "typecheck": true}

// nameWords returns the words of a name in lower case: of "compileTestJava" compile, test, java,
// and the whole.
func nameWords(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	var last rune
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
		case unicode.IsUpper(c) && unicode.IsLower(last):
			end()
			word = append(word, c)
		default:
			word = append(word, c)
		}
		last = c
	}
	end()
	if len(out) > 1 {
		out = append(out, strings.ToLower(name))
	}
	return out
}
