package worker

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/switchback-ci/switchback/routing/plan"
)

// ErrBusy says that another process runs the port.
var ErrBusy = errors.New("another process runs this port")

// Self returns what tells this process from all others. In a job of GitHub
// Actions it has the run and its attempt.
func Self(getenv func(string) string) plan.Runner {
	host, _ := os.Hostname() // without a name it is taken for another machine's
	r := plan.Runner{ID: newID(), Host: host, PID: os.Getpid(), Born: born(os.Getpid())}
	if getenv("GITHUB_ACTIONS") == "true" {
		r.Run = getenv("GITHUB_RUN_ID")
		r.Attempt, _ = strconv.Atoi(getenv("GITHUB_RUN_ATTEMPT"))
	}
	return r
}

// mayTake returns why me may not go on with what other runs.
func mayTake(me, other plan.Runner) error {
	switch {
	case me.ID == other.ID || other.Left:
		return nil
	case me.Run != "" && other.Run != "" && me.Run != other.Run:
		// Runs are numbered as they begin. Whoever is older finds out when it
		// next records, and stops.
		if a, b := runNumber(me.Run), runNumber(other.Run); a > b {
			return nil
		}
		return fmt.Errorf("%w: run %s, which is newer", ErrBusy, other.Run)
	case me.Run != "" && me.Run == other.Run && me.Attempt > other.Attempt:
		return nil // GitHub begins an attempt once the one before has ended
	case me.Host == "" || me.Host != other.Host:
		return fmt.Errorf("%w: process %d on %s", ErrBusy, other.PID, other.Host)
	case running(other.PID) && (other.Born == "" || other.Born == born(other.PID)):
		return fmt.Errorf("%w: process %d", ErrBusy, other.PID)
	}
	return nil
}

func runNumber(id string) uint64 {
	n, _ := strconv.ParseUint(id, 10, 64) // 0 for what is no number
	return n
}

// endOrphans ends what a killed process left running on this machine.
func endOrphans(me plan.Runner, w *plan.Spawn) {
	if w != nil && w.Mark != "" && w.Host == me.Host {
		endGroup(0, w.Mark)
	}
}
