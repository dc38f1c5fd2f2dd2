package generic

import (
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/golang" // logs in which a JUnit document stands hold its output
)

func TestMain(m *testing.M) { corpustest.Main(m) }
