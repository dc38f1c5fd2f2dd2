package calc;

import org.junit.*;

public class OtherTest {
    @Test public void works() { }
}
