package calc;

import org.testng.annotations.*;

public class CompileTest {
    @Test public void adds() { int x = Calc.subtract(1, 2); }
}
