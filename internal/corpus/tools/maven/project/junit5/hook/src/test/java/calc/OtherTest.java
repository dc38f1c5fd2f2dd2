package calc;

import org.junit.jupiter.api.*;

public class OtherTest {
    @Test public void works() { }
}
