#!/bin/sh
# Makes real.xml with Debian's nunit-console 2.6.4 and mono. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/nunit2; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > Tests.cs <<'T'
using System;
using NUnit.Framework;
namespace Shop.Tests {
  [TestFixture] public class CartTests {
    [Test] public void Adds() { Assert.AreEqual(2, 1 + 1); }
    [Test] public void Subtracts() { Assert.AreEqual(3, 1 + 1); }
    [Test] public void Throws() { throw new InvalidOperationException("no luck"); }
    [Test, Ignore("later")] public void Ignored() { }
    [Test] public void Undecided() { Assert.Inconclusive("who knows"); }
    [Test] public void Invalid(int n) { }
    [TestCase(1, "a.b")] [TestCase(2, "c(d")] public void Cases(int n, string s) { Assert.Less(n, 2); }
    [Test, Explicit] public void OnDemand() { }
  }
  [TestFixture(1)] [TestFixture(2)] public class Sized { int n; public Sized(int n) { this.n = n; } [Test] public void Fits() { Assert.That(n, Is.EqualTo(1)); } }
  [TestFixture] public class BrokenSetUp { [TestFixtureSetUp] public void Init() { throw new Exception("no database"); } [Test] public void NeverRuns() { } }
  [TestFixture] public class BrokenTearDown { [TestFixtureTearDown] public void Done() { throw new Exception("not closed"); } [Test] public void Runs() { } }
  [TestFixture] public class SetUpPerTest { [SetUp] public void Init() { throw new Exception("no file"); } [Test] public void NeverRuns() { } }
}
T
mcs -debug -target:library -r:/usr/lib/cli/nunit.framework-2.6.3/nunit.framework.dll -out:Tests.dll Tests.cs
nunit-console -nologo -xml=real.xml Tests.dll >console.txt 2>&1 || true
sed -E 's#/tmp/proj#/proj#g; s#time="[0-9.]+"#time="0.001"#g; s#machine-name="[^"]*"#machine-name="host"#; s#(user|user-domain)="[^"]*"#\1="user"#g; s#os-version="[^"]*"#os-version="Unix"#; s#time="[0-9:]+"#time="03:04:05"#; s#date="[^"]*"#date="2024-01-02"#' real.xml > "$out/real.xml"
