package calc;

import org.testng.annotations.*;

public class ExitsTest {
    @Test public void exits() { System.exit(3); }
}
