package report

var pytestFormat = format{name: "pytest"}
