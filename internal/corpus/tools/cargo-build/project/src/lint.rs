pub fn same(a: bool) -> bool {
    return a == true;
}
