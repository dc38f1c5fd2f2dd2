package routing

import "strings"

// EventPlan is the type of the events of a plan's register.
const EventPlan EventType = "plan"

// RegisterPlans begins the name of a plan's register; PlanKey names it.
const RegisterPlans = "plans"

// PlanKey returns the ledger key of the register of a plan of ports.
func PlanKey(repo, plan string) string { return RegisterKey(repo, RegisterPlans+"/"+plan) }

// ParsePlanKey returns the plan whose register key is, if it is one's.
func ParsePlanKey(key string) (plan string, ok bool) {
	plan, ok = registered(key, RegisterPlans)
	return plan, ok && !strings.Contains(plan, "/")
}

// ParsePortKey returns the plan and the port that key is the stream of, if it is
// one's.
func ParsePortKey(key string) (plan, port string, ok bool) {
	rest, ok := registered(key, RegisterPorts)
	plan, port, both := strings.Cut(rest, "/")
	return plan, port, ok && both && plan != "" && port != "" && !strings.Contains(port, "/")
}

// EdgeKey names one feedback of a plan where a case is named. It is the key of no
// stream.
func EdgeKey(repo, plan, id string) string { return RegisterKey(repo, RegisterEdges+"/"+plan+"/"+id) }

// ParseEdgeKey returns the plan and the id of the feedback that key names, if it
// does.
func ParseEdgeKey(key string) (plan, id string, ok bool) {
	rest, ok := registered(key, RegisterEdges)
	plan, id, both := strings.Cut(rest, "/")
	return plan, id, ok && both && plan != "" && id != ""
}

// registered returns what follows the name of a register in a key.
func registered(key, name string) (rest string, ok bool) {
	if !IsRegister(key) {
		return "", false
	}
	_, rest, _ = strings.Cut(key, "!")
	rest, ok = strings.CutPrefix(rest, name+"/")
	return rest, ok && rest != ""
}
