#!/bin/sh
# Writes what Maven prints with the Surefire of Debian (maven-debian-helper,
# libmaven-compiler-plugin-java, libsurefire-java, junit4, junit5), offline.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
mvn() { command mvn -B -o -s "$dir/settings.xml" "$@"; }
cat > settings.xml <<EOF
<settings><localRepository>$dir/repo</localRepository><offline>true</offline></settings>
EOF
mkdir repo && cp -rL /usr/share/maven-repo/. repo/ 2>/dev/null
pom() { # name, junit 4 or 5, extra
	cat <<EOF
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>com.x</groupId><artifactId>$1</artifactId><version>1</version><packaging>jar</packaging>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies>$2</dependencies>
<build><plugins>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>2.22.3</version><configuration><trimStackTrace>true</trimStackTrace>$3</configuration></plugin>
</plugins></build></project>
EOF
}
J4='<dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version></dependency>'
J5='<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.9.2</version></dependency>'
clean() { sed -e "s#$dir#/work#g; s#file:/*work/repo#file:///repo#g"; }
java_tests() { # package directory, imports
mkdir -p src/main/java/com/x src/test/java/com/x
cat > src/main/java/com/x/Calc.java <<'EOF'
package com.x;
public class Calc { public static int add(int a, int b) { return a + b; } public static int div(int a, int b) { return a / b; } }
EOF
}
j4() {
java_tests
cat > src/test/java/com/x/CalcTest.java <<'EOF'
package com.x;
import static org.junit.Assert.*;
import org.junit.*;
public class CalcTest {
    @Test public void adds() { assertEquals(2, Calc.add(1, 1)); }
    @Test public void wrong() { assertEquals("one and one", 3, Calc.add(1, 1)); }
    @Test public void divides() { Calc.div(1, 0); }
    @Test(timeout = 50) public void hangs() throws Exception { Thread.sleep(5000); }
    @Ignore("later") @Test public void ignored() { }
    @Test public void assumed() { Assume.assumeTrue(false); }
}
EOF
cat > src/test/java/com/x/ParamTest.java <<'EOF'
package com.x;
import static org.junit.Assert.*;
import java.util.*;
import org.junit.*;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
@RunWith(Parameterized.class)
public class ParamTest {
    @Parameterized.Parameters(name = "n={0}") public static Collection<Object[]> data() { return Arrays.asList(new Object[][] {{2}, {3}}); }
    final int n;
    public ParamTest(int n) { this.n = n; }
    @Test public void even() { assertEquals(0, n % 2); }
}
EOF
cat > src/test/java/com/x/SetupTest.java <<'EOF'
package com.x;
import org.junit.*;
public class SetupTest {
    @BeforeClass public static void open() { throw new IllegalStateException("no database"); }
    @Test public void neverRuns() { }
}
EOF
}
j5() {
java_tests
cat > src/test/java/com/x/CalcTest.java <<'EOF'
package com.x;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
class CalcTest {
    @Test void adds() { assertEquals(2, Calc.add(1, 1)); }
    @Test @DisplayName("one and one are three") void wrong() { assertEquals(3, Calc.add(1, 1)); }
    @Test void divides() { Calc.div(1, 0); }
    @Test @Disabled("later") void disabled() { }
    @ParameterizedTest @ValueSource(ints = {2, 3}) void even(int n) { assertEquals(0, n % 2, "n"); }
    @Nested class Inner { @Test void deep() { fail("deep down"); } }
    static int runs;
    @Test void flaky() { if (runs++ == 0) { throw new RuntimeException("first time"); } }
}
EOF
cat > src/test/java/com/x/SetupTest.java <<'EOF'
package com.x;
import org.junit.jupiter.api.*;
class SetupTest {
    @BeforeAll static void open() { throw new IllegalStateException("no database"); }
    @Test void neverRuns() { }
}
EOF
}
mkdir j4 && (cd j4 && j4 && pom four "$J4" "" > pom.xml && mvn test 2>&1 | clean > "$here/junit4.txt"
	mvn test -Dtest='CalcTest#adds' 2>&1 | clean > "$here/green.txt"
	mvn -q test 2>&1 | clean > "$here/quiet.txt"
	mvn test -Dmaven.test.failure.ignore=true -Dtest=ParamTest 2>&1 | clean > "$here/ignored.txt"
	mvn test -Dtest=NoSuchTest 2>&1 | clean > "$here/none.txt"
	mvn test -Dsurefire.redirectTestOutputToFile=true -Dsurefire.printSummary=false 2>&1 | clean > "$here/nosummary.txt")
mkdir j5 && (cd j5 && j5 && pom five "$J5" "" > pom.xml && mvn test 2>&1 | clean > "$here/junit5.txt"
	mvn test -Dsurefire.rerunFailingTestsCount=2 2>&1 | clean > "$here/rerun.txt")
mkdir crash && (cd crash && java_tests && cat > src/test/java/com/x/CrashTest.java <<'EOF'
package com.x;
import org.junit.*;
public class CrashTest { @Test public void exits() { System.exit(3); } @Test public void fine() { } }
EOF
	pom crash "$J4" "" > pom.xml && mvn test 2>&1 | clean > "$here/crash.txt")
mkdir hang && (cd hang && java_tests && cat > src/test/java/com/x/HangTest.java <<'EOF'
package com.x;
import org.junit.*;
public class HangTest { @Test public void sleeps() throws Exception { Thread.sleep(60000); } }
EOF
	pom hang "$J4" "<forkedProcessTimeoutInSeconds>3</forkedProcessTimeoutInSeconds>" > pom.xml && mvn test 2>&1 | clean > "$here/timeout.txt")
mkdir broken && (cd broken && j4 && echo 'package com.x; class Broken { int f() { return "text"; } Missing m; }' > src/main/java/com/x/Broken.java
	pom broken "$J4" "" > pom.xml && mvn test 2>&1 | clean > "$here/compile.txt"
	rm src/main/java/com/x/Broken.java; echo 'package com.x; class BrokenTest { Missing m; }' > src/test/java/com/x/BrokenTest.java
	mvn test 2>&1 | clean > "$here/testcompile.txt")
mkdir multi && (cd multi && mkdir one two three && (cd one && j4) && (cd two && j5) && (cd three && j4 && rm src/test/java/com/x/[PS]*.java)
	pom one "$J4" "" > one/pom.xml; pom two "$J5" "" > two/pom.xml; pom three "$J4" "" > three/pom.xml
	cat > pom.xml <<'EOF'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>com.x</groupId><artifactId>multi</artifactId><version>1</version><packaging>pom</packaging><modules><module>one</module><module>two</module><module>three</module></modules></project>
EOF
	mvn -fae test 2>&1 | clean > "$here/multi.txt")
rm -rf "$dir"
