package green

import "testing"

func TestA(t *testing.T) {}
func TestB(t *testing.T) { t.Skip("later") }
func TestC(t *testing.T) { t.Run("sub", func(t *testing.T) {}) }
