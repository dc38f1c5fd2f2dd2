#[cfg(feature = "broken")]
mod broken;
#[cfg(feature = "lint")]
pub mod lint;
#[cfg(feature = "syntax")]
mod syntax;
#[cfg(feature = "warn")]
mod warn;

pub fn add(a: i32, b: i32) -> i32 {
    a + b
}
