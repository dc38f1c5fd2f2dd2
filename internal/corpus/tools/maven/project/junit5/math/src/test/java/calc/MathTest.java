package calc;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.*;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MathTest {
    @Test void adds() { assertEquals(3, Calc.add(1, 2)); }
    @Test void addsWrongly() { assertEquals(4, Calc.add(1, 2)); }
    @Test void throwsException() { Calc.divide(1, 0); }
    @Test void timesOut() { assertTimeoutPreemptively(Duration.ofMillis(50), () -> Thread.sleep(5000)); }
    @Test @Disabled("later") void isSkipped() { }
    @Test void isAssumed() { assumeTrue(false, "no network"); }
    @ParameterizedTest @CsvSource({"1, 1, 2", "2, 2, 5"}) void addsParameters(int a, int b, int c) { assertEquals(c, Calc.add(a, b)); }
    @RepeatedTest(2) void repeats() { assertTrue(true); }
    @Test void comparesLists() { assertEquals(List.of(1, 2), List.of(1, 3)); }
    @Test @DisplayName("ünï cödé 日本語 ✓") void unicode() { assertEquals("ä", "ö", "the letters differ"); }
    @Test void dereferencesNull() { String s = null; s.length(); }
    @Test void wrapsCause() { throw new IllegalStateException("cannot load", new java.io.IOException("disk is gone")); }

    @Nested class Inner {
        @Test void failsInside() { fail("gave up"); }
        @Test void passesInside() { }
    }
}
