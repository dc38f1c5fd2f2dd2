package calc;

import org.testng.annotations.*;

public class NoisyTest {
    @Test public void printsFailuresOfOthers() {
        System.out.println("Tests run: 3, Failures: 1, Errors: 0, Skipped: 0 in the inner build");
        System.out.println("not ok 1 - inner stream\n--- FAIL: TestInner (0.00s)\nFAIL\texample.com/inner\t0.012s");
        System.err.println("Error: connect ECONNREFUSED 127.0.0.1:5432");
        System.out.println("FAILED tests/test_inner.py::test_inner - AssertionError: inner");
        new IllegalStateException("is expected here").printStackTrace();
    }
}
