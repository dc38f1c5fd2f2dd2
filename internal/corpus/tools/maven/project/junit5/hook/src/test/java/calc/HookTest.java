package calc;

import org.junit.jupiter.api.*;

public class HookTest {
    @BeforeAll public static void connect() { throw new IllegalStateException("database is not ready"); }
    @Test public void needsTheHook() { }
}
