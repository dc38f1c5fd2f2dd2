#!/bin/sh
# Writes what JUnit 4's own text runners print (Debian: junit4, a JDK):
# org.junit.runner.JUnitCore, and junit.textui.TestRunner of JUnit 3.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
cp=/usr/share/java/junit4.jar:/usr/share/java/hamcrest.jar
mkdir -p src/com/x out
cat > src/com/x/CalcTest.java <<'EOF'
package com.x;
import static org.junit.Assert.*;
import static org.junit.Assume.*;
import org.junit.*;
public class CalcTest {
    @Test public void adds() { assertEquals(2, 1 + 1); }
    @Test public void wrong() { assertEquals("one and one", 3, 1 + 1); }
    @Test public void text() { assertEquals("first\nsecond", "first\nthird"); }
    @Test public void divides() { int zero = 0; int x = 1 / zero; }
    @Test public void prints() { System.out.println("2) printed(com.x.CalcTest)"); System.out.print("OK (3 tests)"); }
    @Test public void bare() { throw new IllegalStateException(); }
    @Test public void caused() { throw new RuntimeException("outer", new java.io.IOException("inner")); }
    @Test(timeout = 50) public void slow() throws Exception { Thread.sleep(5000); }
    @Test(expected = IllegalStateException.class) public void expected() { }
    @Test @Ignore("later") public void ignored() { }
    @Test public void assumed() { assumeTrue(false); }
}
EOF
cat > src/com/x/SetupTest.java <<'EOF'
package com.x;
import org.junit.*;
public class SetupTest {
    @BeforeClass public static void open() { throw new IllegalStateException("no database"); }
    @Test public void neverRuns() { }
}
EOF
cat > src/com/x/AfterTest.java <<'EOF'
package com.x;
import org.junit.*;
public class AfterTest {
    @AfterClass public static void close() { throw new IllegalStateException("still open"); }
    @Test public void passes() { }
}
EOF
cat > src/com/x/ParamTest.java <<'EOF'
package com.x;
import java.util.*;
import org.junit.*;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
@RunWith(Parameterized.class)
public class ParamTest {
    @Parameterized.Parameters(name = "{index}: {0} (even)") public static Collection<Object[]> data() { return Arrays.asList(new Object[][] {{2}, {3}}); }
    private final int n;
    public ParamTest(int n) { this.n = n; }
    @Test public void even() { Assert.assertEquals("n", 0, n % 2); }
}
EOF
cat > src/com/x/EmptyTest.java <<'EOF'
package com.x;
public class EmptyTest { }
EOF
cat > src/com/x/IgnoredTest.java <<'EOF'
package com.x;
import org.junit.*;
public class IgnoredTest { @Test @Ignore public void later() { } }
EOF
cat > src/com/x/ExitTest.java <<'EOF'
package com.x;
import org.junit.*;
import org.junit.runners.MethodSorters;
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ExitTest {
    @Test public void a() { }
    @Test public void b() { System.exit(0); }
    @Test public void c() { }
}
EOF
cat > src/com/x/GreenTest.java <<'EOF'
package com.x;
import org.junit.*;
public class GreenTest { @Test public void fine() { } @Test public void good() { System.out.println("a word"); } }
EOF
cat > src/com/x/OldTest.java <<'EOF'
package com.x;
import junit.framework.TestCase;
public class OldTest extends TestCase {
    public void testAdds() { assertEquals(2, 1 + 1); }
    public void testWrong() { assertEquals("one and one", 3, 1 + 1); }
    public void testDivides() { int zero = 0; int x = 1 / zero; }
}
EOF
cat > src/com/x/OldGreenTest.java <<'EOF'
package com.x;
public class OldGreenTest extends junit.framework.TestCase { public void testFine() { } }
EOF
javac -cp $cp -d out src/com/x/*.java || exit 1
steady() { sed "s#$dir#/work#g; s/^Time: .*/Time: 0.05/; s#jdk.internal.reflect.DirectMethodHandleAccessor.invoke(.*#java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)#"; }
core() { java -cp $cp:out org.junit.runner.JUnitCore "$@" 2>&1 | steady; }
old() { java -cp $cp:out junit.textui.TestRunner "$@" 2>&1 | steady; }
core com.x.CalcTest com.x.SetupTest com.x.AfterTest com.x.ParamTest com.x.EmptyTest com.x.OldTest > "$here/failing.txt"
core com.x.GreenTest com.x.OldGreenTest > "$here/green.txt"
core com.x.GreenTest > "$here/green_one.txt"
core com.x.OldGreenTest > "$here/green_single.txt"
core com.x.IgnoredTest > "$here/ignored.txt"
core com.x.ExitTest > "$here/exit.txt"
core com.x.Missing com.x.GreenTest > "$here/missing.txt"
old com.x.OldTest > "$here/old_failing.txt"
old com.x.OldGreenTest > "$here/old_green.txt"
rm -rf "$dir"
