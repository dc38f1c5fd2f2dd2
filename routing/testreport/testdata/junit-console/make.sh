#!/bin/sh
# Writes what the JUnit platform's console launcher (Debian: junit5) prints.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
j=/usr/share/java
cp=$j/junit-jupiter-api.jar:$j/junit-jupiter-engine.jar:$j/junit-jupiter-params.jar:$j/junit-platform-commons.jar:$j/junit-platform-engine.jar:$j/junit-platform-launcher.jar:$j/junit-platform-reporting.jar:$j/junit-platform-console.jar:$j/opentest4j.jar:$j/apiguardian-api.jar:$j/picocli.jar:$j/junit-vintage-engine.jar:$j/junit4.jar:$j/hamcrest-core.jar:$j/univocity-parsers.jar:$j/opentest4j-reporting-events.jar:$j/opentest4j-reporting-schema.jar
mkdir -p src/com/x out
cat > src/com/x/CalcTest.java <<'EOF'
package com.x;
import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
class CalcTest {
    @Test void adds() { assertEquals(2, 1 + 1); }
    @Test @DisplayName("one and one are three") void wrong() { assertEquals(3, 1 + 1); }
    @Test void divides() { int zero = 0; int x = 1 / zero; }
    @Test @Disabled("later") void disabled() { }
    @Test void assumed() { assumeTrue(false); }
    @ParameterizedTest @ValueSource(ints = {2, 3}) void even(int n) { assertEquals(0, n % 2, "n"); }
    @Nested class Inner { @Test void deep() { fail("deep down"); } }
}
EOF
cat > src/com/x/SetupTest.java <<'EOF'
package com.x;
import org.junit.jupiter.api.*;
class SetupTest {
    @BeforeAll static void open() { throw new IllegalStateException("no database"); }
    @Test void neverRuns() { }
}
EOF
cat > src/com/x/GreenTest.java <<'EOF'
package com.x;
import org.junit.jupiter.api.*;
class GreenTest { @Test void fine() { } @Test void good() { } }
EOF
javac -cp $cp -d out src/com/x/*.java || exit 1
run() { java -cp $cp:out org.junit.platform.console.ConsoleLauncher --disable-banner "$@" 2>&1 | sed "s#$dir#/work#g"; }
full() { java -cp $cp:out org.junit.platform.console.ConsoleLauncher "$@" 2>&1 | sed "s#$dir#/work#g"; }
full -c com.x.CalcTest -c com.x.SetupTest --disable-ansi-colors > "$here/failing.txt"
run -c com.x.CalcTest -c com.x.SetupTest --details-theme=ascii > "$here/ascii.txt"
run -c com.x.CalcTest --details=verbose > "$here/verbose.txt"
run -c com.x.CalcTest --details=none > "$here/none.txt"
run -c com.x.GreenTest > "$here/green.txt"
rm -rf "$dir"
