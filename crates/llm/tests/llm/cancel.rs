//! Interrupts at every moment of a request's life: nobody waits for a byte, and nothing is left running.

use std::thread;
use std::time::Duration;

use kit::process::Cancel;
use llm::{Client, Error, Event, Setup, Timeouts, Wire};
use testkit::model::{Server, turn};
use testkit::{PATIENCE, until};

use crate::{WIRES, client, hello, somebody, theirs};

/// Whoever waits for the next byte waits for longer than any test may take.
const LONG: Duration = Duration::from_secs(600);

#[test]
fn an_interrupt_ends_a_stalled_stream_on_both_sides_at_once() {
    for wire in WIRES {
        let server = Server::scripted([turn().say("one two").stream(theirs(wire)).pause_at("two", LONG)]);
        let cancel = Cancel::default();
        let mut stream = client(wire, &server.url()).start(&hello(), &cancel);
        assert!(stream.any(|event| matches!(event, Ok(Event::Text(_)))));
        cancel.cancel();
        assert!(matches!(stream.next(), Some(Err(Error::Cancelled))));
        assert!(stream.next().is_none());
        assert!(until(PATIENCE, || server.requests()[0].closed_early));
    }
}

#[test]
fn an_interrupt_from_another_thread_wakes_a_listener_that_waits_for_the_first_byte() {
    let server = Server::scripted([turn().say("x").stream(theirs(Wire::Anthropic)).delay_before(LONG)]);
    let cancel = Cancel::default();
    let stream = client(Wire::Anthropic, &server.url()).start(&hello(), &cancel);
    let waiting = thread::spawn(move || stream.last());
    assert!(until(PATIENCE, || server.requests().len() == 1));
    cancel.cancel();
    assert!(matches!(waiting.join().unwrap(), Some(Err(Error::Cancelled))));
    assert!(until(PATIENCE, || server.requests()[0].closed_early));
}

#[test]
fn a_stream_that_is_dropped_hangs_up() {
    let reply = turn().say("one two").stream(theirs(Wire::OpenAi)).pause_at("two", LONG);
    let server = Server::scripted([reply]);
    let mut stream = client(Wire::OpenAi, &server.url()).start(&hello(), &Cancel::default());
    assert!(stream.next().is_some());
    drop(stream);
    assert!(until(PATIENCE, || server.requests()[0].closed_early));
}

#[test]
fn a_listener_that_does_not_listen_can_still_hang_up() {
    // Much more than may wait to be heard.
    let words = "word ".repeat(30_000);
    let server = Server::scripted([turn()
        .say(&words)
        .stream(theirs(Wire::Anthropic))
        .pause_at("message_delta", LONG)]);
    let mut stream = client(Wire::Anthropic, &server.url()).start(&hello(), &Cancel::default());
    assert!(stream.next().is_some());
    drop(stream);
    assert!(until(PATIENCE, || server.requests()[0].closed_early));
}

#[test]
fn who_was_interrupted_before_asking_asks_nothing() {
    let server = Server::scripted([]);
    let cancel = Cancel::default();
    cancel.cancel();
    let mut stream = client(Wire::Anthropic, &server.url()).start(&hello(), &cancel);
    assert!(matches!(stream.next(), Some(Err(Error::Cancelled))));
    assert_eq!(server.finish().len(), 0);
}

#[test]
fn an_interrupt_while_connecting_is_heard() {
    // An address of the range for documentation: where packets are dropped nobody answers, elsewhere it fails at once.
    let cancel = Cancel::default();
    let timeouts = Timeouts { idle: LONG, connect: LONG };
    let client =
        Client::new(somebody(Wire::Anthropic, "http://192.0.2.1:9"), Setup { timeouts, ..Setup::default() });
    let stream = client.start(&hello(), &cancel);
    let waiting = thread::spawn(move || stream.last());
    cancel.cancel();
    let last = waiting.join().unwrap();
    assert!(matches!(last, Some(Err(Error::Cancelled | Error::Network { .. }))), "{last:?}");
}

#[test]
fn one_request_can_be_ended_while_another_of_the_same_client_goes_on() {
    let server = Server::answering(|request| {
        let reply = turn().say("one two").stream(theirs(Wire::Anthropic));
        if request.number == 0 {
            reply.pause_at("two", LONG)
        } else {
            reply.pause_at("two", Duration::from_millis(50))
        }
    });
    let client = client(Wire::Anthropic, &server.url());
    let (first, second) = (Cancel::default(), Cancel::default());
    let mut stalled = client.start(&hello(), &first);
    assert!(stalled.next().is_some());
    let mut other = client.start(&hello(), &second);
    assert!(other.next().is_some());
    first.cancel();
    assert!(matches!(stalled.next(), Some(Err(Error::Cancelled))));
    assert_eq!(other.reply().unwrap().text(), "one two");
}
