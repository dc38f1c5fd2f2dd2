package report

var goTestFormat = format{name: "gotest"}
