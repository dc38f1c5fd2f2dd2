package calc;

public class ZeroTest {
    public void isNoTest() { }
}
