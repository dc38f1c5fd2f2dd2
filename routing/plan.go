package routing

// EventPlan is the type of the events of a plan's register.
const EventPlan EventType = "plan"

// RegisterPlans begins the name of a plan's register; PlanKey names it.
const RegisterPlans = "plans"

// PlanKey returns the ledger key of the register of a plan of ports.
func PlanKey(repo, plan string) string { return RegisterKey(repo, RegisterPlans+"/"+plan) }
