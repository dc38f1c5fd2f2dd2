package report

var cargoFormat = format{name: "cargo"}
