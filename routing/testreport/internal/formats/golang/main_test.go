package golang

import (
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/lint" // the recorded output of go vet is read by it
)

func TestMain(m *testing.M) { corpustest.Main(m) }
