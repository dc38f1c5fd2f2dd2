package routing

import "strings"

// The names of the streams of a repository that are not a case's.
const (
	StreamEscalations      = "escalations"
	StreamSurveys          = "surveys"
	StreamFeedbackRequests = "feedback-requests"
	StreamQuarantine       = "quarantine" // tests whose failures do not count for some time
	StreamIncidents        = "incidents"  // many cases with one cause
	StreamReruns           = "reruns"     // of failed jobs, which are bounded by the hour
	StreamPorts            = "ports"      // one for each port: PortKey names it
	StreamPlans            = "plans"      // one for each plan: PlanKey names it
)

// StreamKey returns the key of a stream of a repository. No case has it, as a case's key goes on
// with # or @ behind the repository.
func StreamKey(repo, name string) string { return repo + "!" + name }

// IsRepositoryStream reports whether key is that of a stream that is not a case's.
func IsRepositoryStream(key string) bool {
	_, rest, ok := strings.Cut(key, "/")
	i := strings.IndexAny(rest, "#@!")
	return ok && i >= 0 && rest[i] == '!'
}

// PortKey returns the key of the stream of one port of a plan.
func PortKey(repo, plan, port string) string {
	return StreamKey(repo, StreamPorts+"/"+plan+"/"+port)
}

// PlanKey returns the ledger key of the register of a plan of ports.
func PlanKey(repo, plan string) string { return StreamKey(repo, StreamPlans+"/"+plan) }

// ParsePlanKey returns the plan whose register key is, if it is one's.
func ParsePlanKey(key string) (plan string, ok bool) {
	plan, ok = registered(key, StreamPlans)
	return plan, ok && !strings.Contains(plan, "/")
}

// ParsePortKey returns the plan and the port that key is the stream of, if it is
// one's.
func ParsePortKey(key string) (plan, port string, ok bool) {
	rest, ok := registered(key, StreamPorts)
	plan, port, both := strings.Cut(rest, "/")
	return plan, port, ok && both && plan != "" && port != "" && !strings.Contains(port, "/")
}

// FeedbackRequestKey names one feedback of a plan where a case is named. It is the key of no
// stream.
func FeedbackRequestKey(repo, plan, id string) string {
	return StreamKey(repo, StreamFeedbackRequests+"/"+plan+"/"+id)
}

// ParseFeedbackRequestKey returns the plan and the id of the feedback that key names, if it
// does.
func ParseFeedbackRequestKey(key string) (plan, id string, ok bool) {
	rest, ok := registered(key, StreamFeedbackRequests)
	plan, id, both := strings.Cut(rest, "/")
	return plan, id, ok && both && plan != "" && id != ""
}

// registered returns what follows the name of a register in a key.
func registered(key, name string) (rest string, ok bool) {
	if !IsRepositoryStream(key) {
		return "", false
	}
	_, rest, _ = strings.Cut(key, "!")
	rest, ok = strings.CutPrefix(rest, name+"/")
	return rest, ok && rest != ""
}
