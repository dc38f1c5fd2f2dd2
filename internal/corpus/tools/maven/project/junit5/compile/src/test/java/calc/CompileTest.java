package calc;

import org.junit.jupiter.api.*;

public class CompileTest {
    @Test public void adds() { int x = Calc.subtract(1, 2); }
}
