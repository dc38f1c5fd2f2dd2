// Package actionpins holds the commits of the actions that Switchback's own workflows, the
// workflows it generates and those of its documentation use. A tag can be moved by whoever takes an
// action over; a commit cannot. TestPinnedActions in cmd/switchback compares all files with it.
package actionpins

// A Pin is one release of an action.
type Pin struct {
	Action  string // owner and name, such as actions/checkout
	Commit  string // the full SHA of the release's commit
	Version string // the release's tag
}

// Pins holds one release for each action that a workflow may use.
var Pins = []Pin{
	{"actions/attest-build-provenance", "4d101475d8b20a2381f78447822ac1eab6504dd8", "v4.2.2"},
	{"actions/attest-sbom", "c604332985a26aa8cf1bdc465b92731239ec6b9e", "v4.1.0"},
	{"actions/checkout", "de0fac2e4500dabe0009e67214ff5f5447ce83dd", "v6.0.2"},
	{"actions/download-artifact", "3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c", "v8.0.1"},
	{"actions/setup-go", "7a3fe6cf4cb3a834922a1244abfce67bcef6a0c5", "v6.2.0"},
	{"actions/setup-node", "6044e13b5dc448c55e2357c09f80417699197238", "v6.2.0"},
	{"actions/upload-artifact", "043fb46d1a93c77aae656e7c1c64a875d1fc6a0a", "v7.0.1"},
}

// Of returns the pin of an action. It is false for an action that no workflow uses.
func Of(action string) (Pin, bool) {
	for _, p := range Pins {
		if p.Action == action {
			return p, true
		}
	}
	return Pin{}, false
}

// Ref returns the value for uses: the action at its commit. An action without a pin is a mistake of
// the caller, which a test finds: Ref panics.
func Ref(action string) string {
	p, ok := Of(action)
	if !ok {
		panic("actionpins: no pin of " + action)
	}
	return p.Action + "@" + p.Commit
}
