package calc;

import org.junit.*;

public class CompileTest {
    @Test public void adds() { int x = Calc.subtract(1, 2); }
}
