package calc;

import static org.junit.Assert.*;

import java.util.Arrays;
import org.junit.*;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class TableTest {
    @Parameterized.Parameters public static Iterable<Object[]> data() { return Arrays.asList(new Object[][] {{1, 1, 2}, {2, 2, 5}}); }
    private final int a, b, c;
    public TableTest(int a, int b, int c) { this.a = a; this.b = b; this.c = c; }
    @Test public void addsParameters() { assertEquals(c, Calc.add(a, b)); }
}
