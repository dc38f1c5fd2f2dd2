// # Deliveries
//
// A delivery and its job are stored in one transaction, and waiting deliveries are committed
// together, because a commit to the disk costs about the same for one as for many. The
// delivery's id is the primary key and the digest of its body is unique, so one that is sent twice
// is stored once, also under another id: only the body is signed. Delivery status
// lives in our table, because River deletes finished jobs; the row is written before River is
// told, so that a job that was killed in between finds it done when it starts again.
//
// The advice of an error (package advice) decides what happens to a delivery: Later costs no
// attempt but ends after three days, Gone ends at once, Fail is tried ten times; then it is a
// dead letter, which is shown and can be retried. A working process holds an advisory lock
// (PostgreSQL) or the data directory (SQLite); the jobs of a killed process are returned as soon
// as another one looks. A crash counts as an attempt, and a delivery that was in progress during
// three crashes is retried in isolation.
//
// # Subjects
//
// Deliveries about the same subject share a serialization key: a process works on one of them at
// a time and takes all waiting runs together. Each is recorded, and their effects are applied
// once, in the newest state. They are done only after that, so that a process that ends in
// between starts again with all of them. Across processes the ledger's compare-and-swap and the
// leases decide.
//
// A repository is known by its id. Its streams keep the name it had first, and are read and
// written as if it had always had the present one. What workflows write (ports, surveys) stays
// on the ledger branch, where the App reads and writes the same streams.
package server
