//! Requests: their head is read, bounded in size and time, and checked.

use std::io::{self, Read};
use std::net::{IpAddr, Ipv6Addr, TcpStream};
use std::time::Instant;

/// The largest size of the head of a request.
const MOST_BYTES: usize = 4096;
/// The largest number of header fields.
const MOST_FIELDS: usize = 64;

/// A request that is answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) what: What,
    /// Whether only the head of the answer is wanted.
    pub(super) is_head: bool,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Page,
    Status,
}

/// The reason why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The client is gone, or was too slow.
    Gone,
    /// The request is malformed.
    Malformed,
    /// The head is too long.
    TooLong,
    /// The host is a name other than `localhost`.
    ForeignHost,
    /// The method is neither GET nor HEAD.
    Method,
    /// There is no such page.
    Unknown,
}

impl Refusal {
    /// Returns the code of the answer and its meaning.
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Gone => "408 Request Timeout",
            Self::Malformed => "400 Bad Request",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::ForeignHost => "421 Misdirected Request",
            Self::Method => "405 Method Not Allowed",
            Self::Unknown => "404 Not Found",
        }
    }
}

/// Reads the head of a request, until an instant at the latest.
pub(super) fn read(stream: &mut TcpStream, until: Instant) -> Result<Request, Refusal> {
    let (mut bytes, mut filled) = ([0; MOST_BYTES], 0);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(Refusal::Gone);
        }
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err(Refusal::Gone),
            Ok(read) => filled += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(Refusal::Gone),
        }
        match parse(&bytes[..filled]) {
            Some(result) => return result,
            None if filled == MOST_BYTES => {
                drain(stream, until);
                return Err(Refusal::TooLong);
            }
            None => {}
        }
    }
}

/// Reads and drops what a client still sends, up to a bound: closing a connection with unread bytes
/// would cut off the answer.
fn drain(stream: &mut TcpStream, until: Instant) {
    let mut bytes = [0; MOST_BYTES];
    for _ in 0..16 {
        let left = until.saturating_duration_since(Instant::now());
        let short = left.min(std::time::Duration::from_millis(200));
        if short.is_zero() || stream.set_read_timeout(Some(short)).is_err() {
            return;
        }
        if !matches!(stream.read(&mut bytes), Ok(1..)) {
            return;
        }
    }
}

/// Parses the head of a request. Returns `None` if it is incomplete.
fn parse(bytes: &[u8]) -> Option<Result<Request, Refusal>> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return Some(Err(Refusal::TooLong)),
        Err(_) => return Some(Err(Refusal::Malformed)),
    }
    Some(checked(&request))
}

fn checked(request: &httparse::Request<'_, '_>) -> Result<Request, Refusal> {
    let mut hosts = request.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("host"));
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refusal::Malformed) };
    let host = std::str::from_utf8(host.value).map_err(|_| Refusal::Malformed)?;
    if !is_own_host(host.trim()) {
        return Err(Refusal::ForeignHost);
    }
    let is_head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(Refusal::Method),
    };
    let target = request.path.unwrap_or_default();
    // A target may be a whole address (RFC 9112, section 3.2.2).
    let path = match target
        .strip_prefix("http://")
        .map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len())))
    {
        Some((host, _)) if !is_own_host(host) => return Err(Refusal::ForeignHost),
        Some((_, "")) => "/",
        Some((_, path)) => path,
        None => target,
    };
    let what = match path.split('?').next() {
        Some("/") => What::Page,
        Some("/status.json") => What::Status,
        _ => return Err(Refusal::Unknown),
    };
    Ok(Request { what, is_head })
}

/// Returns whether a host, with or without a port, is `localhost` or an IP address. Only names can be made
/// to lead elsewhere.
fn is_own_host(host: &str) -> bool {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    if let Some(rest) = host.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return false };
        let port_is_sound = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return port_is_sound && address.parse::<Ipv6Addr>().is_ok();
    }
    let name = match host.split_once(':') {
        Some((name, port)) if is_port(port) => name,
        Some(_) => return false,
        None => host,
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_own_hosts() {
        for host in
            ["localhost", "LOCALHOST:1", "127.0.0.1", "10.0.0.7:80", "[::1]", "[fe80::1]:80"]
        {
            assert!(is_own_host(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost:x",
            "127.0.0.1.evil",
            "[::1",
            "[x]",
            "[::1]x",
            "::1",
        ] {
            assert!(!is_own_host(host), "{host}");
        }
    }

    #[test]
    fn requests_are_read_once_they_are_whole() {
        let whole = b"HEAD /status.json?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(parse(&whole[..end]), None, "{end}");
        }
        assert_eq!(parse(whole), Some(Ok(Request { what: What::Status, is_head: true })));
    }

    #[test]
    fn a_target_may_be_a_whole_address() {
        let asked = |target: &str| {
            parse(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap()
        };
        let page = || Ok(Request { what: What::Page, is_head: false });
        for target in ["/", "http://localhost:8080/", "http://127.0.0.1", "http://[::1]:80/?x"] {
            assert_eq!(asked(target), page(), "{target}");
        }
        let status = Request { what: What::Status, is_head: false };
        assert_eq!(asked("http://localhost/status.json"), Ok(status));
        assert_eq!(asked("http://evil.example/"), Err(Refusal::ForeignHost));
        assert_eq!(asked("http:///"), Err(Refusal::ForeignHost));
        assert_eq!(asked("https://localhost/"), Err(Refusal::Unknown));
    }
}
