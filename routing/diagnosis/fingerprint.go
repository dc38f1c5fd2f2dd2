package diagnosis

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

// fingerprintVersion begins every fingerprint. A change of Normalise that changes results needs a
// new version, so that old ledgers stay readable.
const fingerprintVersion = "v1:"

// fingerprint identifies f independently of format, class, line numbers and everything that changes
// from run to run, secrets among it. typ is the error's type, frame the top frame of the project.
func fingerprint(f routing.Failure, typ string, frame Location) string {
	message := f.Message
	if message == "" {
		message = f.Expected + "\x00" + f.Actual
	}
	f.Name = redact.Text(f.Name)
	parts := []string{
		identity(f), Normalise(typ), Normalise(redact.Text(message)),
		frame.Func, path.Base(strings.ReplaceAll(frame.File, `\`, "/")),
	}
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return fingerprintVersion + hex.EncodeToString(h[:16])
}

// nameSeparators are what stands between the parts of a suite's name.
var nameSeparators = strings.NewReplacer(".py::", "/", "::", "/", " > ", "/", " › ", "/", `\`, "/")

// identity returns a test's name in a form that does not depend on the report format: of
// "pkg.mod::Cls::test", "pkg/mod.py::Cls::test" and "test (pkg.mod.Cls)" it keeps the last names,
// in lower case, joined alike.
func identity(f routing.Failure) string {
	if f.Kind == "diagnostic" || f.Kind == "problem" || f.Kind == "log" {
		return f.Kind + " " + Normalise(f.Name) + " " + path.Base(strings.ReplaceAll(f.File, `\`, "/"))
	}
	suite := nameSeparators.Replace(f.Suite)
	for _, ext := range [...]string{".py", ".js", ".ts", ".tsx", ".jsx", ".rb", ".java", ".go"} {
		suite = strings.TrimSuffix(suite, ext)
	}
	suite = strings.ReplaceAll(suite, ".", "/")
	if i := strings.LastIndexByte(strings.TrimRight(suite, "/"), '/'); i >= 0 {
		suite = suite[i+1:]
	}
	return strings.ToLower(suite + "/" + f.Name)
}
