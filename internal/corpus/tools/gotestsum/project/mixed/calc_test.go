package mixed

import (
	"fmt"
	"os"
	"testing"
)

func TestAdds(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("no")
	}
}

func TestAddsWrongly(t *testing.T) {
	if got := Add(1, 2); got != 4 {
		t.Errorf("Add(1, 2) = %d, want 4", got)
	}
}

func TestSkipped(t *testing.T) { t.Skip("not here") }

func TestTable(t *testing.T) {
	for _, c := range []struct{ a, b, want int }{{1, 1, 2}, {2, 2, 5}} {
		t.Run(fmt.Sprintf("%d+%d", c.a, c.b), func(t *testing.T) {
			if got := Add(c.a, c.b); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestNested(t *testing.T) {
	t.Run("inner", func(t *testing.T) {
		t.Run("ünï cödé 日本語", func(t *testing.T) { t.Fatal("deep") })
	})
}

func TestPrints(t *testing.T) {
	fmt.Println("not ok 1 - inner stream")
	fmt.Println("FAILED tests/test_inner.py::test_inner - AssertionError: inner")
	fmt.Println("Error: connect ECONNREFUSED 127.0.0.1:5432")
	fmt.Fprintln(os.Stderr, "  1 failing")
}

func TestMulti(t *testing.T) {
	t.Log("a note")
	t.Error("first\nsecond line")
	t.Error("again")
}

func ExampleAdd() {
	fmt.Println(Add(1, 2))
	// Output: 4
}
