//go:build !unix

// Package peak tells how much memory a process took, for the measurements.
package peak

import "os"

// KiB is 0: it is not known here.
func KiB(*os.ProcessState) int64 { return 0 }
