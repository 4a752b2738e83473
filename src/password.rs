//! Passwords, from a terminal or standard input: never from the command line, which every user of the machine can read.
use std::io::Read;

use anyhow::{Context, Result};
use grammar::Secret;

/// No password is longer; more is not read.
const MOST: u64 = 64 * 1024;

/// A password up to the end of its line.
pub(crate) fn line(from: impl Read) -> Result<Secret> {
    let mut bytes = Vec::new();
    from.take(MOST).read_to_end(&mut bytes).context("the password can't be read")?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(Secret::from(line.strip_suffix(b"\r").unwrap_or(line)))
}

/// A password typed on the terminal, which does not show it.
pub(crate) fn asked(prompt: &str) -> Result<Secret> {
    let typed =
        rpassword::prompt_password(prompt).context("there is no terminal to ask for the password on")?;
    Ok(Secret::from(typed.as_bytes()))
}
