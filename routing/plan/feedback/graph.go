package feedback

// Graph is the plan that feedback runs along. It may hold anything: circles,
// links to nodes that are not there.
type Graph interface {
	Has(node string) bool
	Parent(node string) string      // the node that planned it, "" if none
	DependsOn(node string) []string // the nodes whose work it builds on
	Root() string                   // above all others, though Has may not know it; "" if there is none
}

// up walks from node along what links returns, and returns what it reached,
// nearest first, without node itself. It ends on any graph: a node is visited
// once.
func up(g Graph, node string, links func(string) []string) []string {
	if !g.Has(node) && node != g.Root() || node == "" {
		return nil
	}
	var out []string
	seen := map[string]bool{node: true, "": true}
	for todo := []string{node}; len(todo) > 0; todo = todo[1:] {
		for _, next := range links(todo[0]) {
			if seen[next] || !g.Has(next) && next != g.Root() {
				continue
			}
			seen[next] = true
			out = append(out, next)
			todo = append(todo, next)
		}
	}
	if root := g.Root(); !seen[root] {
		out = append(out, root)
	}
	return out
}

// Ancestors returns the nodes that node may send feedback to: all it reaches by
// parent links and dependencies, nearest first, and the root. A node that the
// plan does not know has none, and none is its own.
func Ancestors(g Graph, node string) []string {
	return up(g, node, func(n string) []string { return append([]string{g.Parent(n)}, g.DependsOn(n)...) })
}

// Planners returns the ancestors that can change the plan of node: its parents
// upwards, and the root.
func Planners(g Graph, node string) []string {
	return up(g, node, func(n string) []string { return []string{g.Parent(n)} })
}

// Nodes is a Graph made of its links.
type Nodes struct {
	Top   string           // the root, "" if there is none
	Links map[string]Links // of every node
}

// Links are what a node hangs on.
type Links struct {
	Parent    string   `json:"parent,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
}

// Has implements Graph.
func (n Nodes) Has(node string) bool { _, ok := n.Links[node]; return ok }

// Parent implements Graph.
func (n Nodes) Parent(node string) string { return n.Links[node].Parent }

// DependsOn implements Graph.
func (n Nodes) DependsOn(node string) []string { return n.Links[node].DependsOn }

// Root implements Graph.
func (n Nodes) Root() string { return n.Top }

// DefaultRoot is the name of the root of a plan that names none.
const DefaultRoot = "workflow-root"
