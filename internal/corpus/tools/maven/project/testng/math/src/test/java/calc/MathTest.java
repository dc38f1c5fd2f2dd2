package calc;

import static org.testng.Assert.*;

import java.util.Arrays;
import org.testng.SkipException;
import org.testng.annotations.*;

public class MathTest {
    @Test public void adds() { assertEquals(Calc.add(1, 2), 3); }
    @Test public void addsWrongly() { assertEquals(Calc.add(1, 2), 4); }
    @Test public void throwsException() { Calc.divide(1, 0); }
    @Test(timeOut = 50) public void timesOut() throws Exception { Thread.sleep(5000); }
    @Test public void isSkipped() { throw new SkipException("later"); }
    @Test(expectedExceptions = IllegalArgumentException.class) public void expectsException() { Calc.add(1, 0); }
    @Test(dependsOnMethods = "addsWrongly") public void depends() { }
    @DataProvider public Object[][] table() { return new Object[][] {{1, 1, 2}, {2, 2, 5}}; }
    @Test(dataProvider = "table") public void addsParameters(int a, int b, int c) { assertEquals(Calc.add(a, b), c); }
    @Test public void comparesLists() { assertEquals(Arrays.asList(1, 2), Arrays.asList(1, 3)); }
    @Test public void ünïcödé() { assertEquals("ä", "ö", "the letters differ"); }
    @Test public void dereferencesNull() { String s = null; s.length(); }
}
