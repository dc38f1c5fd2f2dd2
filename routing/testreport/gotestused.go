package testreport

// goUsed is the memory of packages that ended, for the next ones.
type goUsed struct {
	free  []*goTest
	slab  []goTest // of which the next ones are taken
	tests []*goTest
	names goNames
}

// take returns an empty test.
func (u *goUsed) take() *goTest {
	if n := len(u.free); n > 0 {
		t := u.free[n-1]
		u.free = u.free[:n-1]
		*t = goTest{}
		return t
	}
	if len(u.slab) == 0 {
		u.slab = make([]goTest, 16)
	}
	t := &u.slab[0]
	u.slab = u.slab[1:]
	return t
}

// give takes over the memory of a package that is not looked at again, unless
// it is larger than most.
func (u *goUsed) give(p *goPackage) {
	const most = 4096
	if len(p.tests) > most || len(u.free) > most {
		return
	}
	u.free = append(u.free, p.tests...)
	clear(p.tests)
	p.names.clear()
	u.tests, u.names = p.tests, p.names
	p.tests, p.names = nil, goNames{}
}
