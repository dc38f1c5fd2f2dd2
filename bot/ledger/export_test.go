package ledger

// OpenLockingReads is Open as it is on Windows.
func OpenLockingReads(path string) (*Dir, error) {
	d, err := Open(path)
	if err == nil {
		d.lockReads = true
	}
	return d, err
}
