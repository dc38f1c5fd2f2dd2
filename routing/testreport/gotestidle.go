package testreport

// waits reports whether a line that goMeans denies is only kept, as printed
// before whatever comes.
func (g *goTestText) waits() bool {
	return !g.seen && g.block == nil && g.maybe == nil && g.sum == nil && g.p.crashAt == 0 && !g.p.inRace
}

// goBytes holds the first bytes of the lines that change an idle reader, but
// for results of subtests, which are indented.
var goBytes = func() (b [256]bool) {
	for _, c := range "#=-oF?PB" + "pfS*Wes" { // see goTestText.line and goPackage.watch
		b[c] = true
	}
	return b
}()

// goMeans reports whether s may mean something to a reader of go test that is idle.
func goMeans(s string) bool {
	if s == "" {
		return false
	}
	if s[0] != ' ' {
		return goBytes[s[0]]
	}
	i := 1
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i < len(s) && s[i] == '-'
}
