//! `cfgc crypt`: hashes a password for a `users` line, or checks one.
use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use compiler::program::auth::LONGEST_CREDENTIAL;
use grammar::Secret;
use runtime::crypt;

use crate::{
    args::{Crypt, Image, Scheme},
    files::Given,
    password,
    report::{self, complain},
};

/// Prints the hash of a password: 0. With `--check`: 0 if the password is the user's, 1 if not.
pub(crate) fn run(args: &Crypt) -> Result<ExitCode> {
    match (&args.check, &args.user) {
        (Some(file), Some(user)) => check(file, user, &args.image),
        (_, user) => hash(args.scheme, user.as_deref()),
    }
}

fn hash(scheme: Scheme, user: Option<&str>) -> Result<ExitCode> {
    user.map_or(Ok(()), valid_name)?;
    let password = if is_piped(None) {
        password::line(io::stdin().lock())?
    } else {
        let password = password::asked("Password: ")?;
        if password::asked("The same again: ")? != password {
            bail!("these are two different passwords");
        }
        password
    };
    valid_password(&password)?;
    let scheme = match scheme {
        Scheme::Blake2 => crypt::Scheme::Blake2,
        Scheme::Md5 => crypt::Scheme::Md5,
        Scheme::Nt => crypt::Scheme::Nt,
    };
    let hash = crypt::hash(scheme, &password).context("the system has no randomness to give")?;
    let mut out = report::stdout();
    match user {
        Some(user) => writeln!(out, "\"{user}:{}:{hash}\"", scheme.kind())?,
        None => writeln!(out, "{}:{hash}", scheme.kind())?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn check(file: &Path, user: &str, image: &Image) -> Result<ExitCode> {
    let given = Given::read(file, image)?;
    let compiled = given.compile();
    // Of entries with one name the last counts.
    let Some(entry) = compiled.program.users.iter().rfind(|entry| entry.name.as_bytes() == user.as_bytes())
    else {
        let hint = report::root_hint(&compiled).map(|hint| format!("; a file is missing: {hint}"));
        bail!(
            "no `users` line of `{}` has a user `{user}`{}",
            given.path.display(),
            hint.unwrap_or_default()
        );
    };
    let password = if is_piped(Some(file)) {
        password::line(io::stdin().lock())?
    } else {
        password::asked("Password: ")?
    };
    let right = crypt::verify(&entry.password, &password);
    complain(if right { "the password is right" } else { "the password is wrong" });
    Ok(ExitCode::from(u8::from(!right)))
}

/// Refuses what would be read otherwise in a `users` line.
fn valid_name(user: &str) -> Result<()> {
    if user.is_empty() {
        bail!("a user needs a name");
    }
    match user.chars().find(|char| matches!(char, ':' | '"') || char.is_control()) {
        Some(char) => bail!("a user's name can't hold {char:?}"),
        None => Ok(()),
    }
}

/// Refuses what no client could send.
fn valid_password(password: &Secret) -> Result<()> {
    let password = password.expose();
    if password.is_empty() {
        bail!("the password is empty");
    }
    if password.len() > LONGEST_CREDENTIAL {
        bail!("the password is longer than {LONGEST_CREDENTIAL} bytes: clients can't send it");
    }
    if password.contains(&0) {
        bail!("the password holds a NUL, at which 3proxy would end it");
    }
    Ok(())
}

/// Whether a password can come from standard input: it does unless that is a terminal, or the configuration.
fn is_piped(config: Option<&Path>) -> bool {
    config != Some(Path::new("-")) && !io::stdin().is_terminal()
}
