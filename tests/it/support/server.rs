//! Servers behind the proxy: they tell what they saw.
use std::{
    io::{Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use super::{DEADLINE, client::read_head};

/// A server on a free loopback port. It serves until the test process ends.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    peers: Arc<Mutex<Vec<IpAddr>>>,
}

impl Server {
    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// What was sent to it: request heads for HTTP, data for echo.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// The source addresses of its connections.
    pub(crate) fn peers(&self) -> Vec<IpAddr> {
        self.peers.lock().unwrap().clone()
    }

    fn start(
        serve: impl Fn(TcpStream, &Mutex<Vec<String>>) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server =
            Self { address: listener.local_addr().unwrap(), seen: Arc::default(), peers: Arc::default() };
        let (seen, peers, serve) = (server.seen.clone(), server.peers.clone(), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                peers.lock().unwrap().extend(stream.peer_addr().map(|peer| peer.ip()));
                let (seen, serve) = (seen.clone(), serve.clone());
                // A client that goes away is the test's business, not the server's.
                std::thread::spawn(move || drop(serve(stream, &seen)));
            }
        });
        server
    }
}

/// Sends back what it gets.
pub(crate) fn echo() -> Server {
    Server::start(|mut stream, seen| {
        stream.set_read_timeout(Some(DEADLINE))?;
        let mut buffer = [0; 4096];
        loop {
            let n = stream.read(&mut buffer)?;
            if n == 0 {
                return Ok(());
            }
            seen.lock().unwrap().push(String::from_utf8_lossy(&buffer[..n]).into_owned());
            stream.write_all(&buffer[..n])?;
        }
    })
}

/// Answers every request with 200 and its request line as the body, and keeps the connection unless asked to close it.
pub(crate) fn http() -> Server {
    Server::start(|mut stream, seen| {
        stream.set_read_timeout(Some(DEADLINE))?;
        while let Some(head) = read_head(&mut stream)? {
            let line = head.lines().next().unwrap_or_default().to_owned();
            let closes = head.to_lowercase().contains("connection: close");
            seen.lock().unwrap().push(head);
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{line}", line.len())?;
            if closes {
                break;
            }
        }
        Ok(())
    })
}
