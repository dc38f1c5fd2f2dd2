package calc;

import org.testng.annotations.*;

public class OtherTest {
    @Test public void works() { }
}
