package rank

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDefaultKnowsEveryFeature(t *testing.T) {
	if Default()[Rule] <= 0 {
		t.Errorf("rules weigh %v", Default()[Rule])
	}
	seen := map[string]bool{}
	var in map[string]float32
	if err := json.Unmarshal(weightsJSON, &in); err != nil {
		t.Fatal(err)
	}
	for f := range Features {
		if f.String() == "" || seen[f.String()] {
			t.Errorf("feature %d is called %q", f, f)
		}
		seen[f.String()] = true
		if _, ok := in[f.String()]; !ok {
			t.Errorf("weights.json lacks %s; run make train", f)
		}
	}
}

func TestUnknownFeature(t *testing.T) {
	if err := new(Weights).UnmarshalJSON([]byte(`{"rule": 1, "colour": 2}`)); err == nil || !strings.Contains(err.Error(), "colour") {
		t.Errorf("got %v", err)
	}
}

func TestScore(t *testing.T) {
	w := Prior()
	strong, weak := Vector{Rule: 0.9}, Vector{Rule: 0.5}
	weak.Set(New, true)
	if w.Score(&strong) <= w.Score(&weak) {
		t.Errorf("%v is not above %v", w.Score(&strong), w.Score(&weak))
	}
	strong.Set(Old, true)
	if w.Score(&strong) >= w.Score(&weak) {
		t.Error("a line of a run that passed is above a new one")
	}
}
