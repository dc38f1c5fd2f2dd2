// Package jvm reads the output of Java, Kotlin, Scala and Clojure test tools: Surefire and
// Failsafe, Gradle, the console launcher of JUnit, the text reports of JUnit, Ant, TestNG, sbt and
// Leiningen.
package jvm

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		testngFormat,
		junitTextFormat,
		surefireFormat,
		gradleFormat,
		junitConsoleFormat,
		antFormat,
		testNGFormat,
		sbtFormat,
		leiningenFormat,
	)
}
