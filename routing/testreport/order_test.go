package testreport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSameOrder reads outputs in which many tests end at once, several times.
func TestSameOrder(t *testing.T) {
	t.Parallel()
	var pytest, dart strings.Builder
	pytest.WriteString("============================= test session starts ==============================\ncollected 9 items\n\n")
	dart.WriteString(`{"protocolVersion":"0.1.1","runnerVersion":"1.25.0","pid":1,"type":"start","time":0}` + "\n" +
		`{"suite":{"id":0,"platform":"vm","path":"a_test.dart"},"type":"suite","time":0}` + "\n")
	for i := range 9 {
		fmt.Fprintf(&pytest, "tests/test_a.py::test_%d RERUN [ %d%%]\n", i, i)
		fmt.Fprintf(&dart, `{"test":{"id":%d,"name":"t%d","suiteID":0,"groupIDs":[],"metadata":{"skip":false}},"type":"testStart","time":1}`+"\n", i+1, i)
	}
	pytest.WriteString("\n========================= 9 passed, 9 rerun in 0.12s ==========================\n")
	for name, text := range map[string]string{"pytest": pytest.String(), "dart": dart.String()} {
		first := readLog([]byte(text), false)
		if n := strings.Count(strings.Join(first, "\n"), "\ntest ") + strings.Count(strings.Join(first, "\n"), "\nproblem "); n < 5 {
			t.Fatalf("%s: %d events of tests: %v", name, n, first)
		}
		for range 8 {
			if again := readLog([]byte(text), false); !slices.Equal(first, again) {
				t.Fatalf("%s: read again, the events come in another order:\n%v\n%v", name, first, again)
			}
		}
	}
}
