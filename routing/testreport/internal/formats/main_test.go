package formats

import (
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
)

func TestMain(m *testing.M) { corpustest.Main(m) }
