package calc;

import static org.junit.Assert.*;
import static org.junit.Assume.*;

import java.util.Arrays;
import org.junit.*;

public class MathTest {
    @Test public void adds() { assertEquals(3, Calc.add(1, 2)); }
    @Test public void addsWrongly() { assertEquals(4, Calc.add(1, 2)); }
    @Test public void throwsException() { Calc.divide(1, 0); }
    @Test(timeout = 50) public void timesOut() throws Exception { Thread.sleep(5000); }
    @Test @Ignore("later") public void isSkipped() { }
    @Test public void isAssumed() { assumeTrue("no network", false); }
    @Test(expected = IllegalArgumentException.class) public void expectsException() { Calc.add(1, 0); }
    @Test public void comparesLists() { assertEquals(Arrays.asList(1, 2), Arrays.asList(1, 3)); }
    @Test public void ünïcödé() { assertEquals("the letters differ", "ä", "ö"); }
    @Test public void dereferencesNull() { String s = null; s.length(); }
    @Test public void wrapsCause() { throw new IllegalStateException("cannot load", new java.io.IOException("disk is gone")); }
}
