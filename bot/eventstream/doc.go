// Package eventstream publishes what happens in ledgers while it happens: one sequence of events
// that every subscriber reads in the same order, and the tables behind the dashboard. Both are
// projections of the ledger; they can be deleted and derived again, and no decision depends on
// them.
//
// Events are derived from the ledger in the same database: a trigger marks the streams that were
// appended to, and one process at a time reads them under a lock, so that an event has the same
// position for everybody. PostgreSQL notifies the replicas, SQLite is polled. Streams that
// workflows write to the branch are compared by the names of their blobs, when the branch is pushed
// to and at each reconcile; only events after the known version are read, so nothing is published
// twice.
package eventstream
