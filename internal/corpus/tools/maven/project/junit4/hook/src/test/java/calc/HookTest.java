package calc;

import org.junit.*;

public class HookTest {
    @BeforeClass public static void connect() { throw new IllegalStateException("database is not ready"); }
    @Test public void needsTheHook() { }
}
