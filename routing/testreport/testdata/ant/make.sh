#!/bin/sh
# Writes what Ant (Debian: ant, ant-optional, junit4, testng) prints.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
j=/usr/share/java
mkdir -p src/com/x
cat > src/com/x/CalcTest.java <<'EOF'
package com.x;
import static org.junit.Assert.*;
import org.junit.*;
public class CalcTest {
    @Test public void adds() { assertEquals(2, 1 + 1); }
    @Test public void wrong() { System.out.println("adding"); assertEquals("one and one", 3, 1 + 1); }
    @Test public void divides() { int zero = 0; int x = 1 / zero; }
    @Ignore("later") @Test public void ignored() { }
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
cat > src/com/x/GreenTest.java <<'EOF'
package com.x;
import org.junit.*;
public class GreenTest { @Test public void fine() { } }
EOF
cat > src/com/x/CrashTest.java <<'EOF'
package com.x;
import org.junit.*;
public class CrashTest { @Test public void exits() { System.exit(3); } }
EOF
cat > build.xml <<EOF
<project name="demo" default="test">
<path id="cp"><pathelement location="out"/><pathelement location="$j/junit4.jar"/><pathelement location="$j/hamcrest-core.jar"/></path>
<target name="compile"><mkdir dir="out"/><javac srcdir="src" destdir="out" classpathref="cp" includeantruntime="false"/></target>
<macrodef name="run"><attribute name="f"/><attribute name="p"/><attribute name="halt" default="false"/><sequential>
<junit printsummary="on" fork="true" failureproperty="bad" haltonfailure="@{halt}"><classpath refid="cp"/><formatter type="@{f}" usefile="false"/><batchtest><fileset dir="src" includes="@{p}"/></batchtest></junit>
<fail if="bad" message="tests failed"/></sequential></macrodef>
<target name="brief" depends="compile"><run f="brief" p="**/CalcTest.java,**/SetupTest.java,**/GreenTest.java"/></target>
<target name="plain" depends="compile"><run f="plain" p="**/CalcTest.java,**/SetupTest.java,**/GreenTest.java"/></target>
<target name="halt" depends="compile"><run f="plain" p="**/CalcTest.java" halt="true"/></target>
<target name="green" depends="compile"><run f="brief" p="**/GreenTest.java"/></target>
<target name="crash" depends="compile"><run f="brief" p="**/CrashTest.java,**/GreenTest.java"/></target>
</project>
EOF
run() { ant "$@" 2>&1 | sed "s#$dir#/work#g"; }
for t in brief plain halt green crash; do run $t > "$here/$t.txt"; done
echo 'package com.x; class Broken { Missing m; int f() { return "text"; } }' > src/com/x/Broken.java
run brief > "$here/compile.txt"
rm -rf "$dir"
