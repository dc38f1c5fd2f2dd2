package routing

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

func TestCutFailuresS5_98(t *testing.T) {
	t.Parallel()
	var all CutFailures
	for i := range 2000 {
		all = append(all, CutFailure{
			Suite: fmt.Sprintf("com.acme.shop.orders.OrderService%dTest", i/40), Name: fmt.Sprintf("returnsTheTotalOfOrder%d(\x00\"é)", i*7919%5000),
			Kind: "failure", Class: LogicError, Print: uint64(i)*0x9e3779b97f4a7c15 + 1, PreExisting: i%7 == 0, Quarantined: i%11 == 0,
		})
	}
	v := Verdict{Cut: all}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back Verdict
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Cut, all) {
		t.Fatalf("S5-98: %d of %d names come back: %v", len(back.Cut), len(all), err)
	}
	if n := all.Size(); n > 44<<10 {
		t.Errorf("S5-98: 2000 names take %d bytes", n)
	}
	var none Verdict
	if err := json.Unmarshal([]byte(`{"cut":null}`), &none); err != nil || none.Cut != nil {
		t.Errorf("%v: %v", none.Cut, err)
	}
}

func FuzzCutFailures(f *testing.F) {
	f.Add(CutFailures{{Name: "a", Suite: "s", Print: 1}, {Name: "b", Suite: "s"}}.pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		var c CutFailures
		if json.Unmarshal(text, &c) == nil {
			_ = c.Size()
		}
	})
}
