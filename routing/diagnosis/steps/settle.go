package steps

// settle determines which failures were tolerated, and the status of the job.
func (r *Reader) settle(t *Tree) {}
