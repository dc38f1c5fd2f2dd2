package timeout

import (
	"testing"
	"time"
)

func TestSleeps(t *testing.T) { time.Sleep(30 * time.Second) }
