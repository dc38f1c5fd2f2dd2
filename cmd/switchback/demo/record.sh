#!/usr/bin/env bash
# Records the demo's test output by running the real go test on a small shop
# whose coupon code is fixed turn by turn. Run it in this folder; it needs Go.
set -euo pipefail
here=$(pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > go.mod <<'M'
module example.com/shop

go 1.26
M
cat > coupon_test.go <<'T'
package shop

import (
	"net"
	"testing"
	"time"
)

func TestDiscount(t *testing.T) {
	for _, c := range []struct {
		name  string
		price int
		code  string
		want  int
	}{
		{"ten percent", 1000, "TEN", 900},
		{"rounds down", 999, "TEN", 899},
		{"unknown code", 1000, "NOPE", 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Discount(c.price, c.code)
			if err != nil {
				t.Fatalf("Discount(%d, %q): %v", c.price, c.code, err)
			}
			if got != c.want {
				t.Errorf("Discount(%d, %q): got %d, want %d", c.price, c.code, got, c.want)
			}
		})
	}
}

func TestExpired(t *testing.T) {
	if Expired(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Error("a coupon is not expired before its day")
	}
}

func TestStock(t *testing.T) {
	if !needsStock {
		t.Skip("needs the stock service")
	}
	c, err := net.Dial("tcp", "127.0.0.1:1")
	if err != nil {
		t.Fatalf("stock service: %v", err)
	}
	c.Close()
}
T
cp coupon_test.go "$here/coupon_test.go.txt"
code() {
	cat > coupon.go <<C
package shop

import (
	"errors"
	"time"
)

var needsStock = $1

var errNotImplemented = errors.New("not implemented")

// Discount returns the price in cents after a coupon.
func Discount(price int, code string) (int, error) {
	$2
}

// Expired reports whether a coupon that ends on day is expired now.
func Expired(day, now time.Time) bool { return now.After(day) }
C
}
record() { go test -v ./... 2>&1 | sed "s|$dir|/src|g" > "$here/$1" || true; }
code false 'return 0, errNotImplemented'
record 1-not-implemented.txt
code false 'if code == "TEN" {
		return price - price/10, nil
	}
	return 0, nil'
record 2-wrong-result.txt
code false 'if code == "TEN" {
		return price * 9 / 10, nil
	}
	return price, nil'
record 3-pass.txt
code true 'if code == "TEN" {
		return price * 9 / 10, nil
	}
	return price, nil'
record 4-environment.txt
