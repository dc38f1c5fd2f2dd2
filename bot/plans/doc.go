// # Streams
//
// A port's own stream is written by the process that runs it, the plan's by the process that
// starts ports and records their results: parallel ports do not contend for one stream, and the
// state of a plan is one read. The result of a port is taken from its own stream, and only if
// the run that it was given to wrote there; no clock is needed. Ready ports are computed at the
// end of each level, so a level larger than a matrix, a rerun of failed jobs and a killed run
// need no special case. A dispatch at the last level is recorded before it is sent; if it is
// sent twice, the second run waits for the first and finds nothing to do.
//
// # Feedback requests
//
// The requests of a repository have a stream of their own, to which the process that runs the
// sender appends. What they mean for the plan is a pure function of both streams: a round leaves
// out paused ports and includes a target although it passed, while for the ports that depend on
// it its pass still counts. A port records which request, in which round, it runs for, so that
// its end can be settled by its runner, by the build, or by the next run of the port; the others
// find nothing to do.
//
// # Plans driven by the App
//
// A build that a server drives has no rounds. Whoever receives an event reads the plan's stream
// and the journals of the running ports, takes one step with each port that needs one, records
// results, starts what is ready, and repeats until nothing is left. Each step is one append, so
// any number of processes may do this at once. A port is started once, because its journal names
// what it was started for; a process that recorded nothing for the time of a lease is taken
// over. A push starts a build once, by the build's name, and only if it changes the plan.
package plans
