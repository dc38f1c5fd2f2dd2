package reader

import (
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats"
)

func TestMain(m *testing.M) { corpustest.Main(m) }
