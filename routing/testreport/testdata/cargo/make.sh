#!/bin/sh
# Makes the *.txt files of this directory with the cargo that is installed.
# nextest_*.txt and old_panic.txt are written by hand in the shape of cargo-nextest
# 0.9 and of Rust before 1.73. No network and no dependency is needed. Run it from
# this directory.
set -u
out=$PWD
work=/tmp/proj/cargo
rm -rf "$work"; mkdir -p "$work/tests" "$work/src"; cd "$work" || exit 1
export CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never RUST_BACKTRACE=0 CARGO_TARGET_DIR=target

scrub() { sed -E 's#/tmp/proj/cargo#/proj#g; s#in [0-9.]+s$#in 0.05s#; s# \(([0-9]+)\) panicked# (4711) panicked#; s#\(/proj\)#(/proj)#'; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }

cat > Cargo.toml <<'T'
[package]
name = "switch"
version = "0.1.0"
edition = "2021"
T

cat > src/lib.rs <<'T'
/// Doubles.
///
/// ```
/// assert_eq!(switch::double(2), 4);
/// ```
pub fn double(n: i32) -> i32 { n * 2 }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn doubles() { assert_eq!(double(2), 4); }
    #[test]
    #[should_panic]
    fn panics() { panic!("as it should"); }
    #[test]
    #[ignore = "needs a network"]
    fn later() {}
}
T
cat > tests/it.rs <<'T'
#[test]
fn works() { assert_eq!(switch::double(3), 6); }
T
run green cargo test

cat > src/lib.rs <<'T'
/// ```
/// assert_eq!(switch::double(2), 5);
/// ```
pub fn double(n: i32) -> i32 { n * 2 }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn doubles() {
        println!("about to double");
        assert_eq!(double(2), 5, "two doubled");
    }
    #[test]
    fn holds() { assert!(double(1) > 2); }
    #[test]
    fn unwraps() { let r: Result<i32, String> = Err("broken".into()); r.unwrap(); }
    #[test]
    fn gives_an_error() -> Result<(), String> { Err("no luck".into()) }
    #[test]
    #[should_panic]
    fn does_not_panic() {}
    #[test]
    fn compares_lines() { assert_eq!("a\nb", "a\nc"); }
    #[test]
    fn passes() {}
    #[test]
    #[ignore]
    fn ignored() {}
    #[test]
    fn todo() { todo!() }
    #[test]
    fn in_a_thread() {
        std::thread::spawn(|| panic!("in the thread")).join().unwrap();
    }
}
T
run failing cargo test --no-fail-fast
run nocapture cargo test --lib -- --nocapture --test-threads=1
run one_thread cargo test --lib -- --test-threads=1

cat > src/lib.rs <<'T'
pub fn double(n: i32) -> i32 { n * 2 }
#[cfg(test)]
mod tests {
    #[test]
    fn a_passes() {}
    #[test]
    fn aborts() { std::process::abort(); }
}
T
run abort cargo test --lib -- --test-threads=1

cat > src/lib.rs <<'T'
pub fn double(n: i32) -> i32 { n * 2 }
#[cfg(test)]
mod tests {
    fn deeper(n: u64) -> u64 { if n == u64::MAX { 0 } else { deeper(n + 1) + n } }
    #[test]
    fn overflows() { println!("{}", deeper(std::hint::black_box(0))); }
}
T
run overflow cargo test --lib

cat > src/lib.rs <<'T'
pub fn double(n: i32) -> i32 {
    let unused = 1;
    "two" * n
}
pub fn name() -> String {
    1
}
T
run build_error cargo test

cat > src/lib.rs <<'T'
pub fn double(n: i32) -> i32 { n * 2 }
#[cfg(test)]
mod tests {
    #[test]
    fn exits() { std::process::exit(3); }
}
T
run exits cargo test --lib

cat > src/lib.rs <<'T'
pub fn double(n: i32) -> i32 { let unused = 1; n * 2 }
T
rm -r tests
run empty cargo test
