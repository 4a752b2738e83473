//! The `cfgc` command.
fn main() {}
