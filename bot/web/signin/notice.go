package signin

import (
	"bytes"
	"html/template"
	"net/http"
)

// notice is a page for people who are not signed in.
type notice struct {
	Title, Text string
	Again       bool // the sign-in failed
}

var noticePage = template.Must(template.New("notice").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}} – Switchback</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/style.css">
</head>
<body>
<header><p class="name">Switchback</p></header>
<main id="main">
<h1>{{.Title}}</h1>
<p{{if .Again}} role="alert"{{end}}>{{.Text}}</p>
<p><a href="/sign-in">Sign in with GitHub</a></p>
</main>
</body>
</html>
`))

// say renders a notice.
func say(w http.ResponseWriter, status int, n notice) {
	var b bytes.Buffer
	if err := noticePage.Execute(&b, n); err != nil {
		http.Error(w, n.Text, status)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// broken logs an error and renders a notice.
func (g *Gate) broken(w http.ResponseWriter, what string, err error) {
	g.o.Log.Error(what, "err", err)
	say(w, http.StatusBadGateway, notice{Title: "That did not work", Again: true, Text: "GitHub or the database does not answer. Try again in a while; the server's log says more."})
}
