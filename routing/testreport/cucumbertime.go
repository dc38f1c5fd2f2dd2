package testreport

import (
	"strconv"
	"strings"
	"time"
)

// cucumberDuration reads a duration: Cucumber's are nanoseconds, behave's
// seconds with a fraction.
func cucumberDuration(r *jsonReader) time.Duration {
	if r.peek() == '"' {
		return nanos(r.float())
	}
	s := r.short(64)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f {
		return 0
	}
	if strings.ContainsAny(s, ".eE-") && f < 1e6 {
		return secs(f)
	}
	return nanos(f)
}
