package ratelimit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// arrival is a request that reached GitHub.
type arrival struct {
	at      time.Duration
	points  int
	content bool
}

// process is one of several that share a State, which it knows through Read and
// Write alone.
type process struct {
	name    string
	tokens  int
	spent   int
	until   time.Duration
	slots   int
	busy    []time.Duration // when its requests in progress end
	writing time.Duration   // the end of its write, 0 for none
	begun   time.Duration   // of that
	next    time.Duration   // it asks for the write lease
}

// sim lets processes work as hard as they may, with requests that take long or
// not, and kills them now and then.
type sim struct {
	r      *rand.Rand
	l      Limits
	s      State
	now    time.Duration
	ps     []*process
	names  int
	sent   []arrival
	writes [][2]time.Duration
	most   int // concurrent requests, of all processes
}

var epoch = time.Unix(1_700_000_000, 0)

func (m *sim) clock() time.Time { return epoch.Add(m.now) }

func (m *sim) fresh() *process {
	m.names++
	return &process{name: fmt.Sprintf("p%d", m.names)}
}

// step lets every process do what it may at this instant.
func (m *sim) step() {
	if m.r.IntN(200) == 0 { // as it is kept
		data, err := json.Marshal(m.s)
		m.s = State{}
		if err == nil {
			err = json.Unmarshal(data, &m.s)
		}
		if err != nil {
			panic(err)
		}
	}
	under := 0
	for i, p := range m.ps {
		if m.r.IntN(4000) == 0 { // killed: nothing is given back
			m.ps[i] = m.fresh()
			continue
		}
		p.busy = slices.DeleteFunc(p.busy, func(end time.Duration) bool { return end <= m.now })
		m.write(p)
		m.read(p)
		under += len(p.busy)
		if p.writing > 0 {
			under++
		}
	}
	m.most = max(m.most, under)
}

func (p *process) inFlight() int {
	if p.writing > 0 {
		return len(p.busy) + 1
	}
	return len(p.busy)
}

func (m *sim) write(p *process) {
	if p.writing > 0 && p.writing <= m.now {
		m.s.Done(m.clock(), m.l, p.name)
		m.writes = append(m.writes, [2]time.Duration{p.begun, m.now})
		p.writing = 0
	}
	if p.writing > 0 {
		if (m.now-p.begun)%time.Second < 100*time.Millisecond {
			m.s.Renew(m.clock(), p.name)
		}
		return
	}
	if m.now < p.next {
		return
	}
	content := m.r.IntN(5) > 0
	l := m.s.Write(m.clock(), m.l, Request{Holder: p.name, InUse: p.inFlight() + 1, Content: content})
	if p.next = m.now + l.Wait; l.Wait > 0 {
		return
	}
	p.slots = l.Slots
	took := time.Duration(1+m.r.IntN(40)) * 10 * time.Millisecond
	if m.r.IntN(50) == 0 {
		took = 7 * time.Second // longer than a lease
	}
	p.begun, p.writing = m.now, m.now+took
	m.sent = append(m.sent, arrival{m.now + time.Duration(m.r.Int64N(int64(took))), WriteTokens, content})
}

func (m *sim) read(p *process) {
	for range m.r.IntN(4) {
		if p.tokens < ReadTokens || m.now >= p.until {
			l := m.s.Read(m.clock(), m.l, Request{Holder: p.name, Spent: p.spent, InUse: p.inFlight(), Want: 1 + m.r.IntN(80)})
			p.spent, p.tokens, p.until, p.slots = 0, l.Tokens, m.now+l.Life, l.Slots
			if l.Wait > 0 {
				return
			}
		}
		if p.inFlight() >= p.slots {
			return
		}
		p.tokens, p.spent = p.tokens-ReadTokens, p.spent+ReadTokens
		travel := m.l.Points.Per / lives
		m.sent = append(m.sent, arrival{m.now + time.Duration(m.r.Int64N(int64(travel))), ReadTokens, false})
		p.busy = append(p.busy, m.now+travel+time.Duration(m.r.IntN(100))*10*time.Millisecond)
	}
}

// most returns the most tokens, and requests that create content, in any span.
func most(sent []arrival, span time.Duration) (points, content int) {
	p, c, first := 0, 0, 0
	count := func(a arrival, n int) {
		p += n * a.points
		if a.content {
			c += n
		}
	}
	for _, a := range sent {
		for ; sent[first].at <= a.at-span; first++ {
			count(sent[first], -1)
		}
		count(a, 1)
		points, content = max(points, p), max(content, c)
	}
	return points, content
}

// No span of time sees more than the limits, whoever asks, is slow or is killed;
// and what the limits let through is let through.
func TestLimitsHold(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := &sim{r: r, l: GitHub()}
		tick, length := 500*time.Millisecond, 62*time.Minute
		if seed > 0 {
			tick, length = 10*time.Millisecond, time.Minute
			m.l = Limits{Interval: 10 * time.Millisecond, Short: Rate{10, 2 * time.Second}, Long: Rate{60, 30 * time.Second}, Points: Rate{300, 4 * time.Second}, AtOnce: 7}
		}
		for range 1 + r.IntN(6) {
			m.ps = append(m.ps, m.fresh())
		}
		for ; m.now < length; m.now += tick {
			m.step()
		}
		slices.SortFunc(m.sent, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
		_, short := most(m.sent, m.l.Short.Per)
		_, long := most(m.sent, m.l.Long.Per)
		points, _ := most(m.sent, m.l.Points.Per)
		if short > m.l.Short.N || long > m.l.Long.N || points > m.l.Points.N || m.most > m.l.AtOnce {
			t.Errorf("seed %d, %d processes, %v: %d and %d of content, %d points, %d at once", seed, len(m.ps), m.l, short, long, points, m.most)
		}
		if long < m.l.Long.N*3/4 || points < m.l.Points.N/4 { // few may be under way at once
			t.Errorf("seed %d, %d processes, %v: only %d of content and %d points were let through", seed, len(m.ps), m.l, long, points)
		}
		for i := 1; i < len(m.writes); i++ {
			if a, b := m.writes[i-1], m.writes[i]; b[0] < a[1] || b[0]-a[0] < m.l.Interval {
				t.Fatalf("seed %d: a write from %v to %v, and one from %v to %v", seed, a[0], a[1], b[0], b[1])
			}
		}
		if n := len(m.s.Content) + len(m.s.Spent); n > m.l.Long.N+2*grain {
			t.Errorf("seed %d: %d times are remembered", seed, n)
		}
	}
}

func TestSilentHolder(t *testing.T) {
	t.Parallel()
	var s State
	l, now := GitHub(), epoch
	if w := s.Write(now, l, Request{Holder: "a", InUse: 1, Content: true}); w.Wait != 0 {
		t.Fatal(w)
	}
	var waited time.Duration
	for {
		w := s.Write(now, l, Request{Holder: "b", InUse: 1, Content: true})
		if w.Wait == 0 {
			break
		}
		now, waited = now.Add(w.Wait), waited+w.Wait
	}
	if waited < WriteLeaseTTL || waited > WriteLeaseTTL+time.Second {
		t.Errorf("the turn of one that fell silent was held for %v", waited)
	}
	if len(s.Content) != 1 {
		t.Errorf("what it may have sent does not count: %v", s.Content)
	}
	s.Done(now, l, "a") // it was only slow
	if s.Writer == nil || s.Writer.Holder != "b" {
		t.Error("one that lost its turn ended another's")
	}
	now = now.Add(WriteLeaseTTL - time.Millisecond)
	s.Renew(now, "b")
	if w := s.Write(now.Add(time.Second), l, Request{Holder: "a", InUse: 1}); w.Wait == 0 {
		t.Error("a turn that was prolonged was given away")
	}
	if w := s.Write(now, l, Request{Holder: "b", InUse: 1}); w.Wait != 0 || len(s.Content) != 2 {
		t.Errorf("who comes back under its name is not known to have ended its write: %v %v", w, s.Content)
	}
}

func TestBlockHoldsAllBack(t *testing.T) {
	t.Parallel()
	var s State
	l := GitHub()
	s.Block(epoch, time.Minute)
	s.Block(epoch, time.Second) // does not shorten it
	for _, w := range []Grant{s.Read(epoch, l, Request{Holder: "a", Want: 5}), s.Write(epoch, l, Request{Holder: "b", InUse: 1})} {
		if w.Wait != time.Minute || w.Tokens != 0 {
			t.Errorf("%+v", w)
		}
	}
	after := epoch.Add(time.Minute)
	if w := s.Read(after, l, Request{Holder: "a", Want: 5}); w.Wait != 0 || w.Tokens != 5 {
		t.Errorf("%+v", w)
	}
}

func TestComingBack(t *testing.T) {
	t.Parallel()
	var s State
	l := GitHub()
	for range l.Long.N {
		s.Content = append(s.Content, epoch.UnixMicro())
	}
	wait := s.WriteDelay(epoch, l)
	if wait != time.Hour {
		t.Fatalf("%v", wait)
	}
	last := time.Duration(0)
	for i := range 400 {
		d := s.PutOff(epoch, l, wait)
		if d < wait || d <= last || d > wait+ahead {
			t.Fatalf("number %d is told to come after %v, the one before after %v", i, d, last)
		}
		last = d
	}
	for range 1000 {
		if d := s.PutOff(epoch, l, wait); d < wait || d > wait+ahead {
			t.Fatalf("%v", d)
		}
	}
}

// A clock that is put back does not hold anything back for longer.
func TestClockPutBack(t *testing.T) {
	t.Parallel()
	var s State
	l := GitHub()
	for range 80 {
		s.Write(epoch.Add(24*time.Hour), l, Request{Holder: "a", InUse: 1, Content: true})
		s.Done(epoch.Add(24*time.Hour), l, "a")
		s.Last = 0
	}
	if d := s.WriteDelay(epoch, l); d != time.Minute {
		t.Errorf("%v", d)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                "content=80/1m,500/1h points=900/1m at-once=100",
		"at-once=5":                       "content=80/1m,500/1h points=900/1m at-once=5",
		"points=10/90s content=1/1s,2/2s": "content=1/1s,2/2s points=10/1m30s at-once=100",
	} {
		l, err := Parse(in)
		if err != nil || l.String() != want {
			t.Errorf("%q: %v, %v", in, l, err)
		}
		if again, err := Parse(l.String()); err != nil || again != l {
			t.Errorf("%q: read again %v, %v", in, again, err)
		}
	}
	for in, want := range map[string]string{
		"content=80/1m":        "one rate",
		"content=80/1h,500/1m": "longer time",
		"content=80/1m,x/1h":   `"x/1h" is no rate`,
		"points=4/1m":          "a write alone takes 5 points",
		"points=0/1m":          "no rate",
		"at-once=0":            "at least 1",
		"writes=3":             `"writes=3" is none of`,
		"points=900/1ms":       "from 1s to 24h",
	} {
		if _, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// Whoever comes in the place of one that was killed gets slots at once.
func TestKilledOneAfterTheOther(t *testing.T) {
	t.Parallel()
	var s State
	now := time.Unix(1700000000, 0)
	for n := range 8 {
		now = now.Add(2 * time.Second)
		if l := s.Read(now, GitHub(), Request{Holder: fmt.Sprint("start ", n), Want: 10}); l.Wait > 0 || l.Slots == 0 {
			t.Fatalf("start %d: %+v", n, l)
		}
	}
}
