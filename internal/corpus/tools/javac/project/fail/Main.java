import java.util.List;
import com.example.missing.Helper;

public class Main {
    int total(List<String> names) {
        int n = names;
        return undefined + n;
    }

    String name() {
    }
}
