// The budget of an installation is one value, kept under its name in the database and changed
// under the lock of its row. The rules are pure functions of that value and the database's
// clock, so that tests need neither. A write takes the turn with a lease that is renewed while
// the request is in flight, and counts from when it was answered: no period at GitHub can see
// more. Reads take tokens that are valid for a second. While the database is unreachable or
// read-only, nothing is sent.
package ratelimit
