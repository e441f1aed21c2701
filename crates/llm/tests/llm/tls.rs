//! Encrypted connections: trusted ones, others, and proxies on the way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use kit::invocation::Environment;
use kit::process::Cancel;
use llm::{Certificates, Client, Error, Setup, Wire};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use testkit::model::{Server, turn};

use crate::{hello, somebody, theirs};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/llm/tls").join(name)
}

/// Takes the encryption off one connection and passes it on to `server`. Gives the port to come to.
fn encrypting(server: &Server, host: &str) -> u16 {
    let chain = CertificateDer::pem_file_iter(fixture("server.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).unwrap();
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(crypto).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind((host, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = server.url().replace("http://", "");
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut front = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
        let mut request = [0; 64 << 10];
        // A handshake that fails ends here.
        let Ok(read) = read_request(&mut front, &mut request) else { return };
        let mut back = TcpStream::connect(behind).unwrap();
        back.write_all(&request[..read]).unwrap();
        let mut answer = [0; 4096];
        while let Ok(read @ 1..) = back.read(&mut answer) {
            if front.write_all(&answer[..read]).is_err() {
                return;
            }
        }
    });
    port
}

fn read_request(front: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    // The body is one object, and nothing follows it.
    while !buffer[..read].ends_with(b"]}") {
        match front.read(&mut buffer[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

fn trusting(file: &str) -> Setup {
    let certificates = Certificates { file: Some(fixture(file)), folder: None };
    Setup { certificates: Some(certificates), ..Setup::default() }
}

#[test]
fn a_server_whose_authority_is_trusted_is_asked() {
    let server = Server::scripted([turn().say("secret").stream(theirs(Wire::Anthropic)).until_close()]);
    let port = encrypting(&server, "127.0.0.1");
    let client = Client::new(
        somebody(Wire::Anthropic, &format!("https://localhost:{port}")),
        trusting("authority.pem"),
    );
    assert_eq!(client.start(&hello(), &Cancel::default()).reply().unwrap().text(), "secret");
    assert_eq!(server.finish().len(), 1);
}

#[test]
fn a_server_that_nobody_vouches_for_gets_nothing() {
    let server = Server::scripted([]);
    // An authority that the system does not know; then a host that the certificate does not name.
    for (host, setup) in [("127.0.0.1", Setup::default()), ("127.0.0.2", trusting("authority.pem"))] {
        let base = format!("https://{host}:{}", encrypting(&server, host));
        let client = Client::new(somebody(Wire::Anthropic, &base), setup);
        let error = client.start(&hello(), &Cancel::default()).reply().unwrap_err();
        let Error::Tls { host: told, cause } = &error else { panic!("{error:?}") };
        assert!(told == host && cause.contains("certificate"), "{cause}");
    }
    assert_eq!(server.finish().len(), 0);
}

#[test]
fn without_anything_to_trust_the_reason_is_said() {
    let client = Client::new(somebody(Wire::Anthropic, "https://localhost:1"), trusting("absent.pem"));
    let error = client.start(&hello(), &Cancel::default()).reply().unwrap_err();
    assert!(error.to_string().contains("SSL_CERT_FILE"), "{error}");
}

#[test]
fn an_interrupt_in_the_middle_of_a_handshake_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let cancel = Cancel::default();
    let mut stream =
        Client::new(somebody(Wire::Anthropic, &base), trusting("authority.pem")).start(&hello(), &cancel);
    let (mut silent, _) = listener.accept().unwrap();
    silent.set_read_timeout(Some(testkit::PATIENCE)).unwrap();
    silent.read_exact(&mut [0]).unwrap();
    cancel.cancel();
    assert!(matches!(stream.next(), Some(Err(Error::Cancelled))));
    // All that was said before, and then the end: without it the patience above would run out.
    silent.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn plain_http_on_this_machine_looks_for_no_certificates() {
    let server = Server::scripted([turn().say("x").stream(theirs(Wire::Anthropic))]);
    let client = Client::new(somebody(Wire::Anthropic, &server.url()), trusting("absent.pem"));
    assert_eq!(client.start(&hello(), &Cancel::default()).reply().unwrap().text(), "x");
}

#[test]
fn a_proxy_is_asked_to_connect_and_sees_no_key() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://me:pass@{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
        let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        (&stream).write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").unwrap();
        head
    });
    let setup = Setup::from_environment(&Environment::of([("HTTPS_PROXY", proxy.as_str())]));
    let setup = Setup { certificates: trusting("authority.pem").certificates, ..setup };
    let client = Client::new(somebody(Wire::Anthropic, "https://api.example"), setup);
    let error = client.start(&hello(), &Cancel::default()).reply().unwrap_err();
    assert!(matches!(&error, Error::Network { host, .. } if host == "api.example"), "{error:?}");
    let head = asked.join().unwrap();
    assert_eq!(head[0], "CONNECT api.example:443 HTTP/1.1");
    assert!(!head.concat().contains("sk-secret"));
}
