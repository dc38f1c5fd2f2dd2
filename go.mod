module github.com/switchback-ci/switchback

go 1.26.0

require (
	golang.org/x/text v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
