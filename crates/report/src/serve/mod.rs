//! A small web server that shows the page of a directory. It answers GET and HEAD, reads files only,
//! and never stops the program: clients that are slow, many or hostile are cut off.
//!
//! The server is not made for the open Internet. It has no encryption and no passwords. Requests whose
//! `Host` is a name other than `localhost` are refused, so that a foreign web page cannot read the
//! state through a name that leads to this machine (DNS rebinding).

mod request;

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use warpint_runner::work::Overview;

use crate::page::policy;
use crate::{Report, Shown};
use request::{Refusal, Request, What};

/// The interval at which browsers load the page again.
pub const REFRESH: Duration = Duration::from_secs(30);
/// The time for which an answer is used again, so that many requests cost no more than a few.
const FRESH: Duration = Duration::from_secs(2);
/// The time in which a client must have sent its request, and that in which it must have taken the
/// answer.
const TO_ASK: Duration = Duration::from_secs(5);
const TO_TAKE: Duration = Duration::from_secs(20);
/// The largest number of connections at the same time. Further ones are closed.
const MOST_CONNECTIONS: usize = 16;

/// A server that is bound to an address, but does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    dir: PathBuf,
}

/// The last answer, and the time at which it was made.
type Stored = Mutex<Option<(Instant, Arc<[u8]>)>>;

/// What the threads of a server share.
struct Shared {
    dir: PathBuf,
    connections: AtomicUsize,
    page: Stored,
    status: Stored,
}

impl Server {
    /// Binds a server for a directory to an address. With port 0 the system chooses a free port.
    ///
    /// # Errors
    /// Returns the error of the system, for example if the port is in use.
    pub fn bind(dir: &Path, address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, dir: dir.to_owned() })
    }

    /// Returns the address of the server, with the port that the system has chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests on threads of its own until the process ends.
    ///
    /// # Errors
    /// Returns an error if no thread can be started.
    pub fn start(self) -> io::Result<()> {
        let shared = Arc::new(Shared {
            dir: self.dir,
            connections: AtomicUsize::new(0),
            page: Mutex::new(None),
            status: Mutex::new(None),
        });
        let accept = move || {
            loop {
                match self.listener.accept() {
                    Ok((stream, _)) => Shared::take(&shared, stream),
                    // For example, too many open files: they may be closed soon.
                    Err(_) => thread::sleep(Duration::from_millis(100)),
                }
            }
        };
        thread::Builder::new().name("serve".into()).spawn(accept).map(drop)
    }
}

impl Shared {
    /// Answers a connection on a thread of its own, or closes it if there are too many.
    fn take(this: &Arc<Self>, stream: TcpStream) {
        let shared = Arc::clone(this);
        if shared.connections.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            shared.connections.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let guard = Connection(Arc::clone(this));
        let answer = move || {
            // A client that goes away does no harm.
            let _ = shared.answer(stream);
            drop(guard);
        };
        // Without a thread, the closure and with it the guard are dropped.
        drop(thread::Builder::new().name("serve".into()).spawn(answer));
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let asked = request::read(&mut stream, Instant::now() + TO_ASK);
        let (status, kind, body, is_head) = match asked {
            Ok(Request { what, is_head }) => {
                let (kind, body) = match what {
                    What::Page => ("text/html; charset=utf-8", self.page()),
                    What::Status => ("application/json", self.status()),
                };
                match body {
                    Ok(body) => ("200 OK", kind, body, is_head),
                    Err(reason) => ("500 Internal Server Error", TEXT, reason, is_head),
                }
            }
            Err(Refusal::Gone) => return Ok(()),
            Err(refusal) => (refusal.status(), TEXT, line(refusal.status()), false),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
             Content-Security-Policy: {}; frame-ancestors 'none'\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cache-Control: no-store\r\nAllow: GET, HEAD\r\nConnection: close\r\n\r\n",
            body.len(),
            policy(),
        );
        let until = Instant::now() + TO_TAKE;
        send(&mut stream, head.as_bytes(), until)?;
        if !is_head {
            send(&mut stream, &body, until)?;
        }
        stream.shutdown(std::net::Shutdown::Write)
    }

    fn page(&self) -> Result<Arc<[u8]>, Arc<[u8]>> {
        fresh(&self.page, || {
            let report = Report::of(&self.dir).map_err(|e| line(&e.to_string()))?;
            Ok(report.page(Shown::Live(REFRESH)).into_bytes().into())
        })
    }

    fn status(&self) -> Result<Arc<[u8]>, Arc<[u8]>> {
        fresh(&self.status, || {
            let (overview, _) = Overview::of(&self.dir).map_err(|e| line(&e.to_string()))?;
            let text = serde_json::to_string(&overview).map_err(|e| line(&e.to_string()))?;
            Ok(line(&text))
        })
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

/// Counts a connection until it is dropped.
struct Connection(Arc<Shared>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

fn line(text: &str) -> Arc<[u8]> {
    format!("{text}\n").into_bytes().into()
}

/// Returns the stored answer if it is not older than [`FRESH`]; otherwise makes and stores a new one. Only
/// one thread makes an answer, and the others wait for it.
fn fresh<E>(stored: &Stored, make: impl FnOnce() -> Result<Arc<[u8]>, E>) -> Result<Arc<[u8]>, E> {
    let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((made, answer)) = &*stored
        && made.elapsed() < FRESH
    {
        return Ok(Arc::clone(answer));
    }
    let answer = make()?;
    *stored = Some((Instant::now(), Arc::clone(&answer)));
    Ok(answer)
}

/// Sends bytes until an instant at the latest.
fn send(stream: &mut TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            sent => bytes = &bytes[sent..],
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn started(dir: &Path) -> SocketAddr {
        let server = Server::bind(dir, "127.0.0.1:0".parse().unwrap()).unwrap();
        let address = server.address();
        server.start().unwrap();
        address
    }

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(address: SocketAddr, what: &str) -> String {
        ask(address, &format!("{what} HTTP/1.1\r\nHost: {address}\r\n\r\n"))
    }

    #[test]
    fn the_page_and_the_status_are_served_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("worktodo.txt"), "PRP=127\n").unwrap();
        let address = started(dir.path());
        let page = get(address, "GET /");
        let (head, body) = page.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("default-src 'none'") && head.contains("frame-ancestors 'none'"));
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert!(crate::is_report(body.as_bytes()) && body.contains("content=\"30\""), "{body}");
        let head_only = get(address, "HEAD /");
        assert_eq!(head_only.split_once("\r\n\r\n").map(|(_, body)| body), Some(""));
        let status = get(address, "GET /status.json");
        let body = status.split_once("\r\n\r\n").unwrap().1;
        let value: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(value["lines"]["assignments"], 1);
        for (what, expected) in [
            ("GET /worktodo.txt", "404"),
            ("GET /../worktodo.txt", "404"),
            ("POST /", "405"),
            ("DELETE /status.json", "405"),
        ] {
            let answer = get(address, what);
            assert!(answer.starts_with(&format!("HTTP/1.1 {expected} ")), "{what}: {answer}");
        }
        let text = std::fs::read(dir.path().join("worktodo.txt")).unwrap();
        assert_eq!(
            (text, std::fs::read_dir(dir.path()).unwrap().count()),
            (b"PRP=127\n".into(), 1)
        );
    }

    #[test]
    fn a_foreign_host_name_and_a_broken_request_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let address = started(dir.path());
        for (request, expected) in [
            ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
            ("GET / HTTP/1.1\r\nHost: localhost.evil.example:80\r\n\r\n", "421"),
            ("GET / HTTP/1.1\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "400"),
            ("nonsense\r\n\r\n", "400"),
        ] {
            let answer = ask(address, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {expected} ")), "{request}: {answer}");
            assert!(!answer.contains("<html"), "{answer}");
        }
        let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(8_000));
        assert!(ask(address, &long).starts_with("HTTP/1.1 431 "));
        for host in ["localhost", "localhost:8080", "127.0.0.1:80", "[::1]:80", "192.168.1.7"] {
            let answer = ask(address, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert!(answer.starts_with("HTTP/1.1 200 "), "{host}: {answer}");
        }
    }

    #[test]
    fn silent_clients_hold_no_more_than_their_number_and_not_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let address = started(dir.path());
        let begin = Instant::now();
        let silent: Vec<_> =
            (0..MOST_CONNECTIONS).map(|_| TcpStream::connect(address).unwrap()).collect();
        // One client too many is cut off or, if a thread was slow to count, served.
        let mut refused = TcpStream::connect(address).unwrap();
        let _ = refused.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let _ = refused.read(&mut [0; 16]);
        let patience = TO_ASK + Duration::from_secs(20);
        let served = loop {
            let mut stream = TcpStream::connect(address).unwrap();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
            let mut answer = vec![];
            let _ = stream.read_to_end(&mut answer);
            if answer.starts_with(b"HTTP/1.1 200") {
                break true;
            }
            if begin.elapsed() > patience {
                break false;
            }
            thread::sleep(Duration::from_millis(50));
        };
        assert!(served, "the silent clients were not cut off");
        assert!(begin.elapsed() >= TO_ASK, "more connections than the limit");
        drop(silent);
    }

    #[test]
    fn a_port_in_use_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = Server::bind(dir.path(), taken.local_addr().unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
