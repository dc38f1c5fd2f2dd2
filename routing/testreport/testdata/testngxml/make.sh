#!/bin/sh
# Makes real.xml and config.xml with Debian's libtestng7-java. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/testng; rm -rf "$work"; mkdir -p "$work/shop"; cd "$work"
jar=$(ls /usr/share/java/testng7.jar /usr/share/java/testng.jar 2>/dev/null | head -1)
export CLASSPATH=$jar:/usr/share/java/jcommander.jar:/usr/share/java/bsh.jar:/usr/share/java/snakeyaml.jar:/usr/share/java/slf4j-simple.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/jquery.jar:.
cat > shop/CartTest.java <<'T'
package shop;
import org.testng.*;
import org.testng.annotations.*;
public class CartTest {
    public static class Twice implements IRetryAnalyzer { int n; public boolean retry(ITestResult r) { return n++ < 2; } }
    static int tries;
    @Test public void adds() { Assert.assertEquals(1 + 1, 2); }
    @Test public void subtracts() { Assert.assertEquals(1 + 1, 3, "sum"); }
    @Test public void throwsUp() { throw new IllegalStateException("no luck <here>"); }
    @Test(dependsOnMethods = "subtracts") public void depends() { }
    @Test(enabled = false) public void off() { }
    @Test public void skips() { throw new SkipException("not here"); }
    @DataProvider public Object[][] rows() { return new Object[][] {{1, "a"}, {2, "b"}}; }
    @Test(dataProvider = "rows") public void row(int n, String s) { Assert.assertTrue(n < 2, "too much"); }
    @Test(timeOut = 100) public void hangs() throws Exception { Thread.sleep(5000); }
    @Test(retryAnalyzer = Twice.class) public void flaky() { Assert.assertTrue(tries++ > 0, "the first time"); }
    @Test(retryAnalyzer = Twice.class) public void hopeless() { Assert.fail("every time"); }
    @AfterMethod public void tidy() { }
}
T
cat > shop/BrokenTest.java <<'T'
package shop;
import org.testng.annotations.*;
public class BrokenTest {
    @BeforeClass public void connect() { throw new RuntimeException("no database"); }
    @Test public void neverRuns() { }
}
T
javac shop/*.java
run() { java org.testng.TestNG -d "$1" -testclass "$2" >/dev/null 2>&1 || true
  sed -E 's#(duration-ms)="[0-9]+"#\1="5"#g; s#(start|finish)ed-at="[^"]*"#\1ed-at="2024-01-02T03:04:05Z"#g; s#@[0-9a-f]{6,8}\]#@1f2e3d4c]#g' "$1/testng-results.xml" > "$out/$1.xml"; }
run real shop.CartTest
run config shop.BrokenTest,shop.CartTest
