package tokenpipe

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// protect closes what /proc shows of this process: environ, mem, fd and all else that a debugger
// could read. Processes that it starts are not protected, as the attribute ends with exec.
func protect() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_DUMPABLE): %w", err)
	}
	return nil
}
