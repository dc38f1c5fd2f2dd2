#!/bin/sh
# Writes what TestNG (Debian: testng) prints, alone and under Ant's java task.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
j=/usr/share/java
cp=$j/testng.jar:$j/jcommander.jar:$j/bsh.jar:$j/hamcrest-core.jar:$j/junit4.jar
mkdir -p src/com/x out
cat > src/com/x/CalcTest.java <<'EOF'
package com.x;
import static org.testng.Assert.*;
import org.testng.SkipException;
import org.testng.annotations.*;
public class CalcTest {
    @Test public void adds() { assertEquals(1 + 1, 2); }
    @Test public void wrong() { assertEquals(1 + 1, 3, "one and one"); }
    @Test public void divides() { int zero = 0; int x = 1 / zero; }
    @Test public void skips() { throw new SkipException("not today"); }
    @DataProvider public Object[][] numbers() { return new Object[][] {{2}, {3}}; }
    @Test(dataProvider = "numbers") public void even(int n) { assertEquals(n % 2, 0); }
    @Test(dependsOnMethods = "wrong") public void depends() { }
}
EOF
cat > src/com/x/SetupTest.java <<'EOF'
package com.x;
import org.testng.annotations.*;
public class SetupTest {
    @BeforeMethod public void open() { throw new IllegalStateException("no database"); }
    @Test public void neverRuns() { }
}
EOF
cat > src/com/x/GreenTest.java <<'EOF'
package com.x;
import org.testng.annotations.*;
public class GreenTest { @Test public void fine() { } }
EOF
javac -cp $cp -d out src/com/x/*.java || exit 1
run() { java -cp $cp:out org.testng.TestNG "$@" 2>&1 | sed "s#$dir#/work#g; s#@[0-9a-f]\{6,8\}#@1a2b3c#g"; }
run -testclass com.x.CalcTest,com.x.SetupTest -verbose 2 > "$here/failing.txt"
run -testclass com.x.CalcTest -verbose 1 > "$here/terse.txt"
run -testclass com.x.GreenTest -verbose 2 > "$here/green.txt"
rm -rf "$dir"
