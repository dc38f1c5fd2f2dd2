import java.util.*;

public class Main {
    @Deprecated List raw() { List l = new ArrayList(); l.add(1); return l; }
}
