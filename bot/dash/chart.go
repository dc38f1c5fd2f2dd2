package dash

import (
	"encoding/json"
	"time"

	"github.com/switchback-ci/switchback/bot/feed"
	"github.com/switchback-ci/switchback/routing"
)

// chart is what came out of runs, day by day. Without script it is a table.
type chart struct {
	Days []day
}

type day struct {
	Day                          time.Time // its beginning, UTC
	Passed, Handed, Called, Else int
}

// JSON is the chart's data for the script: seconds, and one list for each line.
func (c chart) JSON() (string, error) {
	data := [5][]int64{{}, {}, {}, {}, {}}
	for _, d := range c.Days {
		for i, n := range []int64{d.Day.Unix(), int64(d.Passed), int64(d.Handed), int64(d.Called), int64(d.Else)} {
			data[i] = append(data[i], n)
		}
	}
	b, err := json.Marshal(data)
	return string(b), err
}

func chartOf(list []feed.Outcome) chart {
	var c chart
	for _, o := range list {
		at := o.Hour.Truncate(24 * time.Hour)
		if n := len(c.Days); n == 0 || !c.Days[n-1].Day.Equal(at) {
			c.Days = append(c.Days, day{Day: at})
		}
		d := &c.Days[len(c.Days)-1]
		switch {
		case o.Decision == routing.KindPass:
			d.Passed += o.N
		case o.Decision == routing.KindRetry:
			d.Handed += o.N
		case o.Decision.Escalates():
			d.Called += o.N
		default:
			d.Else += o.N
		}
	}
	return c
}
