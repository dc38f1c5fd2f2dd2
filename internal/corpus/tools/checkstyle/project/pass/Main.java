class Main {
}
