package report

var junitFormat = format{name: "junit"}
