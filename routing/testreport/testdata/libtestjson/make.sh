#!/bin/sh
# Makes the files beside it with cargo of the nightly toolchain.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
scrub() { sed -e "s#$dir#/project#g"; }
mkdir -p src tests
printf '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml
cat > src/lib.rs <<'X'
/// Adds.
///
/// ```
/// assert_eq!(sample::add(1, 2), 3);
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(add(1, 2), 3); }
    #[test]
    fn fails() { assert_eq!(add(1, 2), 4, "sum is wrong"); }
    #[test]
    fn panics() { println!("before the panic"); None::<i32>.unwrap(); }
    #[test]
    fn returns_an_error() -> Result<(), String> { Err("no such thing".into()) }
    #[test]
    #[should_panic]
    fn should_panic() {}
    #[test]
    #[ignore = "not today"]
    fn ignored() {}
    mod deeper {
        #[test]
        fn is_fine() {}
    }
}
X
cat > tests/it.rs <<'X'
#[test]
fn works() {}
X
cargo +nightly test --no-fail-fast -- -Z unstable-options --format json 2>&1 | grep -v 'Finished\|Compiling' | scrub > "$out/failing.txt" || true
cargo +nightly test --lib -- -Z unstable-options --format json adds 2>/dev/null | scrub > "$out/green.jsonl" || true
cat > tests/crash.rs <<'X'
#[test]
fn fine() {}
#[test]
fn zz_exits() { std::thread::sleep(std::time::Duration::from_millis(200)); std::process::exit(9); }
X
cargo +nightly test --test crash -- -Z unstable-options --format json --test-threads 1 2>/dev/null | scrub > "$out/crash.jsonl" || true
echo 'pub fn x() -> i32 { "a" }' >> src/lib.rs
cargo +nightly test -- -Z unstable-options --format json 2>&1 | scrub > "$out/build.txt" || true
rm -rf "$dir"
