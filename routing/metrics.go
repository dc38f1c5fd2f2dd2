package routing

import (
	"fmt"
	"time"
)

// Metrics are the figures of one checkpoint of a case.
type Metrics struct {
	Session         string  `json:"session"`
	Checkpoint      string  `json:"checkpoint"`
	RoutingHistory  []Entry `json:"routing_history"`
	TotalTime       string  `json:"total_time"`       // "15m"
	FeedbackQuality string  `json:"feedback_quality"` // effective, ineffective, none
}

// Metrics returns the figures of checkpoint name, as of its last event.
func (c Case) Metrics(name string) Metrics {
	cp := c.Checkpoints[name]
	return Metrics{
		Session: c.Key, Checkpoint: name, RoutingHistory: append([]Entry{}, cp.History...),
		TotalTime: ShortDuration(cp.Updated.Sub(cp.Opened)), FeedbackQuality: feedbackQuality(cp),
	}
}

// feedbackQuality is effective if the newest end is a pass after at least one
// rework, ineffective if it is an escalation after one, else none.
func feedbackQuality(cp Checkpoint) string {
	reworked := 0
	quality := "none"
	for _, e := range cp.History {
		switch {
		case e.Undone, e.Result == KindSuspect:
		case e.Result == KindRetry:
			reworked++
		case e.Result == KindPass:
			quality = choose(reworked > 0, "effective", "none")
			reworked = 0
		case e.Result.Escalates():
			quality = choose(reworked > 0, "ineffective", "none")
		}
	}
	return quality
}

func choose(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

// ShortDuration returns d in at most two units, rounded down: "45s", "15m",
// "2h5m", "3d4h".
func ShortDuration(d time.Duration) string {
	s := int(max(0, d).Seconds())
	units := []struct {
		name string
		secs int
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	for i, u := range units {
		if s < u.secs && u.name != "s" {
			continue
		}
		out := fmt.Sprintf("%d%s", s/u.secs, u.name)
		if i+1 < len(units) && i < 2 {
			if rest := (s % u.secs) / units[i+1].secs; rest > 0 {
				out += fmt.Sprintf("%d%s", rest, units[i+1].name)
			}
		}
		return out
	}
	return "0s"
}
