package report

var goTestJSONFormat = format{name: "gotest-json"}
