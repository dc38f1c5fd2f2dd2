#!/bin/sh
# Writes what Gradle (Debian: gradle 4.4, offline, junit4) prints. The files
# modern_*.txt are written by hand in the shape of Gradle 8.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
mkdir -p app/src/test/java/com/x app/src/main/java/com/x lib/src/test/java/com/x
echo "include 'app', 'lib'" > settings.gradle
cat > build.gradle <<'EOF'
subprojects {
  apply plugin: 'java'
  sourceCompatibility = 8
  dependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }
  if (project.hasProperty('loud')) { test { testLogging { events 'passed', 'skipped', 'failed'; exceptionFormat 'full' } } }
}
EOF
cat > app/src/test/java/com/x/CalcTest.java <<'EOF'
package com.x;
import static org.junit.Assert.*;
import org.junit.*;
public class CalcTest {
    @Test public void adds() { assertEquals(2, 1 + 1); }
    @Test public void wrong() { assertEquals("one and one", 3, 1 + 1); }
    @Test public void divides() { int zero = 0; int x = 1 / zero; }
    @Ignore("later") @Test public void ignored() { }
}
EOF
cat > app/src/test/java/com/x/SetupTest.java <<'EOF'
package com.x;
import org.junit.*;
public class SetupTest {
    @BeforeClass public static void open() { throw new IllegalStateException("no database"); }
    @Test public void neverRuns() { }
}
EOF
cat > lib/src/test/java/com/x/LibTest.java <<'EOF'
package com.x;
import org.junit.*;
public class LibTest { @Test public void fine() { } }
EOF
run() { gradle --offline --no-daemon --console=plain "$@" 2>&1 | sed "s#$dir#/work#g"; }
run test --continue > "$here/failing.txt"
run test --continue -Ploud > "$here/loud.txt"
run :lib:cleanTest :lib:test > "$here/green.txt"
echo 'package com.x; public class CrashTest { @org.junit.Test public void exits() { System.exit(3); } }' > lib/src/test/java/com/x/CrashTest.java
run :lib:test > "$here/crash.txt"
echo 'package com.x; class Broken { Missing m; int f() { return "text"; } }' > app/src/main/java/com/x/Broken.java
run test > "$here/compile.txt"
echo 'nonsense {' > build.gradle
run test > "$here/script.txt"
rm -rf "$dir"
