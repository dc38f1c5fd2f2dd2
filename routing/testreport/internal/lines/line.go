package lines

import (
	"strings"
)

// StepOver reports whether l says that the step which printed what came before
// has ended: nothing of a session that is still open can follow.
func StepOver(l Line) bool {
	if l.Mark == "" && (l.Text == "" || l.Text[0] != 'T') {
		return false // nearly all lines; the rest is too long to be inlined
	}
	return endsStep(l)
}

func endsStep(l Line) bool {
	switch l.Mark {
	case "error":
		return strings.HasPrefix(l.Text, "Process completed with exit code") ||
			strings.HasPrefix(l.Text, "The operation was canceled")
	case "group":
		return strings.HasPrefix(l.Text, "Run ")
	case "": // Travis
		return strings.HasPrefix(l.Text, `The command "`) && strings.Contains(l.Text, `" exited with `)
	}
	return false
}
