//! New connections per second through `tcppm` with one entry and with 100,000: the length of the list must not be seen.
//!
//! `cargo bench --bench tcppm`. Two processes of the built command, one origin, all on loopback; rounds of both alternate. What counts is
//! the processor time of the proxy for a connection, of which other work on the machine takes nothing: the ratio is the median of those
//! of two rounds that follow each other. It fails when the long list keeps less than 95 % of the connections that the short one has for
//! a second of processor. The rates by the clock are printed beside it. Under `cargo test` it does nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
use std::{
    fmt::Write as _,
    fs,
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The least share of the rate that the long list keeps.
const KEPT: f64 = 0.95;
const ENTRIES: u32 = 100_000;
const ROUNDS: usize = 61;
const CLIENTS: usize = 4;
/// Connections that each client makes in a round.
const CONNECTIONS: usize = 60;

/// A running `cfgc`, ended with this.
struct Proxy {
    child: Child,
    address: SocketAddr,
}

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match measure() {
        Ok(ratio) if ratio >= KEPT => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Connections per second of one round.
#[derive(Clone, Copy)]
struct Rates {
    /// Of the clock.
    clock: f64,
    /// Of the proxy's processor time.
    processor: f64,
}

fn measure() -> io::Result<f64> {
    let origin = origin()?;
    let directory = tempfile::tempdir()?;
    let short = Proxy::start(directory.path(), 1, origin)?;
    let long = Proxy::start(directory.path(), ENTRIES, origin)?;
    short.round()?;
    long.round()?;
    let mut rounds = Vec::new();
    for turn in 0..ROUNDS {
        // Who begins takes turns, so that a slow moment hits both.
        rounds.push(if turn % 2 == 0 {
            let first = short.round()?;
            (first, long.round()?)
        } else {
            let first = long.round()?;
            (short.round()?, first)
        });
    }
    let kept = |what: fn(Rates) -> f64| {
        let ratios = rounds.iter().map(|(short, long)| what(*long) / what(*short));
        let short = median(rounds.iter().map(|(short, _)| what(*short)).collect());
        let long = median(rounds.iter().map(|(_, long)| what(*long)).collect());
        (short, long, median(ratios.collect()))
    };
    let ratio = |name: &str, (short, long, ratio): (f64, f64, f64)| {
        println!(
            "new connections for a second of {name}: {short:.0} with one entry, {long:.0} with {ENTRIES}: {ratio:.3}"
        );
        ratio
    };
    ratio("the clock", kept(|rates| rates.clock));
    Ok(ratio("the proxy's processor time", kept(|rates| rates.processor)))
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

fn client(proxy: SocketAddr) -> io::Result<()> {
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(proxy)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.write_all(b"?")?;
        stream.read_exact(&mut [0])?;
    }
    Ok(())
}

/// Answers each connection's first byte, and waits for its end.
fn origin() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.read_exact(&mut [0])?;
    stream.write_all(b"!")?;
    io::copy(&mut stream, &mut io::sink())?;
    Ok(())
}

impl Proxy {
    /// With `entries` entries, of which the last lets all pass.
    fn start(directory: &std::path::Path, entries: u32, origin: SocketAddr) -> io::Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut text = String::from("internal 127.0.0.1\nauth iponly\n");
        for at in 1..entries {
            let [_, b, c, d] = (at << 2).to_be_bytes();
            let _ = writeln!(text, "deny * * 10.{b}.{c}.{d}/30");
        }
        let _ = write!(text, "allow * * 127.0.0.0/8\ntcppm {} 127.0.0.1 {}\n", address.port(), origin.port());
        let path = directory.join(format!("{entries}.cfg"));
        fs::write(&path, text)?;
        let child = Command::new(env!("CARGO_BIN_EXE_cfgc"))
            .args(["run", "--allow", "all"])
            .arg(path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let proxy = Self { child, address };
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(address).is_err() {
            if Instant::now() > deadline {
                return Err(io::Error::other("cfgc does not listen"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(proxy)
    }

    /// Makes new connections.
    fn round(&self) -> io::Result<Rates> {
        let (started, before) = (Instant::now(), self.processor_seconds()?);
        let address = self.address;
        let clients: Vec<_> = (0..CLIENTS).map(|_| thread::spawn(move || client(address))).collect();
        for client in clients {
            client.join().map_err(|_| io::Error::other("a client panicked"))??;
        }
        let passed = started.elapsed().as_secs_f64();
        let used = self.processor_seconds()? - before;
        let made = (CLIENTS * CONNECTIONS) as f64;
        Ok(Rates { clock: made / passed, processor: made / used })
    }

    /// What the process's threads have used of a processor.
    fn processor_seconds(&self) -> io::Result<f64> {
        let mut nanoseconds = 0.0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let told = fs::read_to_string(thread?.path().join("schedstat"))?;
            nanoseconds += told.split(' ').next().and_then(|part| part.parse::<f64>().ok()).unwrap_or(0.0);
        }
        Ok(nanoseconds / 1e9)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
