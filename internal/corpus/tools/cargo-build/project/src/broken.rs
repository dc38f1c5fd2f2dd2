pub fn total(items: &[String]) -> i32 {
    let n: i32 = items;
    helper(n)
}

pub fn moved() -> String {
    let s = String::new();
    drop(s);
    s
}
