public class Main {
    void run() {
        int a = 1
    }
}
