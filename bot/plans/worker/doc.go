// A step of a port, the messages it sends and the worker it starts are one append, so that a
// killed process leaves a step done or not begun. The stream names the process that runs the
// port; a process that was taken over finds another name there when it next appends, and stops.
// A worker talks to its process over the loopback interface with a session token, so that it
// needs no GitHub token. All its processes carry a mark in their environment, by which those
// that left the process group are found (Linux), also by the run that continues.
//
// Workers that are workflows share the loop, whether a process waits for them or events do: a
// step takes the port over, looks at the run, records its result and the next dispatch in one
// append, sends that, and records that it was sent. In between, the dispatch belongs to its
// process for the time of a lease; whoever takes the port over looks for the run by its key
// until the lease ends, and sends the dispatch only then.
package worker
