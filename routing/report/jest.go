package report

var jestFormat = format{name: "jest"}
