// # Escalations
//
// A repository has one stream of escalations beside its cases. A record is an issue and the
// cases that it holds; an effect first finds its record there, with compare-and-swap, and only
// then writes to GitHub. State.Place in package escalation decides where an escalation belongs:
// a case has one open record of a type, cases with one fingerprint share a record, what a person
// closed stays closed for its commit, nothing opens within the quiet period after a green run
// closed it, a resolved record is reopened only by a commit that contains what resolved it, and
// beyond the limit of new issues per hour the rest goes into one summary issue. The process that
// opened a record creates its issue under a lease; the others wait for the number.
package effect
