package calc;

public class Calc {
    public static int add(int a, int b) { return a + b; }

    public static int divide(int a, int b) {
        if (b == 0) throw new IllegalArgumentException("cannot divide by zero");
        return a / b;
    }
}
