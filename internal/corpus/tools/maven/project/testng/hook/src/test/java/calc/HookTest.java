package calc;

import org.testng.annotations.*;

public class HookTest {
    @BeforeClass public static void connect() { throw new IllegalStateException("database is not ready"); }
    @Test public void needsTheHook() { }
}
