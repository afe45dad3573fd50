//! Messages on standard input and output, as the protocol frames them: header lines, a blank one, so many bytes of JSON.
//!
//! `lsp-server` reserves what a header announces before any of it is there, and keeps to itself what was wrong: so the
//! reader is our own.

use std::io::{self, BufRead, Read, Write};
use std::thread;

use crossbeam_channel::{Sender, bounded};
use lsp_server::{Connection, ErrorCode, Message};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{LARGEST, ServeError, Settings, serve};

/// Bytes of a message: the largest text, each byte of it as six characters (`\u0000`), and what is around it.
const LONGEST: u64 = 8 * LARGEST as u64;
/// Bytes of a header line.
const LONGEST_LINE: u64 = 4096;

/// Serves a client on standard input and output until it says `exit`.
///
/// # Errors
/// If the client goes away without that, or speaks no protocol.
pub fn serve_stdio(settings: Settings) -> Result<(), ServeError> {
    let (sender, outgoing) = bounded(0);
    let (incoming, receiver) = bounded(0);
    let (problem, problems) = bounded(1);
    // It is not joined: it may wait for a client that says nothing more.
    thread::spawn(move || {
        if let Err(error) = pass_on(&mut io::stdin().lock(), &incoming, &mut io::stdout()) {
            let _ = problem.send(ServeError(error));
        }
    });
    let writer = thread::spawn(move || {
        outgoing.into_iter().try_for_each(|message: Message| message.write(&mut io::stdout().lock()))
    });
    let connection = Connection { sender, receiver };
    // Where the reader gave up, that is the reason, and not that nothing came any more.
    let served = serve(&connection, settings).map_err(|error| problems.try_recv().unwrap_or(error));
    // The writer ends when nothing can be sent any more.
    drop(connection);
    let written = writer.join().unwrap_or(Ok(()));
    served.and(written.map_err(|error| ServeError(error.to_string())))
}

/// Hands the messages on until there are no more, or the receiver is gone. What is no message is answered at once: what
/// follows it can be read.
fn pass_on(input: &mut impl BufRead, incoming: &Sender<Message>, output: &mut impl Write) -> Result<(), String> {
    while let Some(bytes) = read(input)? {
        let Some(message) = message(&bytes) else {
            output.write_all(&refusal(&bytes)).and_then(|()| output.flush()).map_err(|error| error.to_string())?;
            continue;
        };
        let last = matches!(&message, Message::Notification(notification) if notification.method == "exit");
        if incoming.send(message).is_err() || last {
            break;
        }
    }
    Ok(())
}

/// What the protocol makes of bytes.
fn message(bytes: &[u8]) -> Option<Message> {
    #[derive(Deserialize)]
    struct Identified {
        id: Option<IgnoredAny>,
    }
    let message = serde_json::from_slice(bytes).ok()?;
    // A request whose `id` is neither a whole number nor a text is read as a notification.
    let is_request = || serde_json::from_slice::<Identified>(bytes).is_ok_and(|found| found.id.is_some());
    (!matches!(message, Message::Notification(_)) || !is_request()).then_some(message)
}

/// The answer to bytes that are no message, with its header.
fn refusal(bytes: &[u8]) -> Vec<u8> {
    let (id, code, message) = match serde_json::from_slice::<Value>(bytes) {
        Err(error) => (Value::Null, ErrorCode::ParseError, format!("this is not JSON: {error}")),
        Ok(mut value) => {
            let id = value.get_mut("id").map(Value::take).filter(|id| id.is_string() || id.is_number());
            let message = "this is no request: expected an object with a whole number or a text as `id`, and `method`";
            (id.unwrap_or_default(), ErrorCode::InvalidRequest, message.to_owned())
        }
    };
    let answer =
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } }).to_string();
    format!("Content-Length: {}\r\n\r\n{answer}", answer.len()).into_bytes()
}

/// The bytes of the next message; `None` at the end.
fn read(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, String> {
    let Some(length) = announced(input)? else { return Ok(None) };
    if length > LONGEST {
        return Err(format!("a message of {length} bytes: up to {LONGEST} are read"));
    }
    let mut bytes = Vec::new();
    let got = input.take(length).read_to_end(&mut bytes).map_err(|error| error.to_string())? as u64;
    if got < length {
        return Err(format!("the input ends within a message: {got} of {length} bytes"));
    }
    Ok(Some(bytes))
}

/// The length that a header announces; `None` where the input ends before one.
fn announced(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let (mut length, mut first) = (None, true);
    loop {
        let mut line = Vec::new();
        input.take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if line.is_empty() && first {
            return Ok(None);
        }
        first = false;
        let shown = || String::from_utf8_lossy(&line).trim_end().chars().take(60).collect::<String>();
        let text = line.strip_suffix(b"\r\n").and_then(|line| str::from_utf8(line).ok());
        if text.is_some_and(str::is_empty) {
            return length.map(Some).ok_or_else(|| "a message without Content-Length".to_owned());
        }
        let Some((name, value)) = text.and_then(|text| text.split_once(": ")) else {
            return Err(format!("`{}` is no header: expected `Content-Length: N`, then a blank line", shown()));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            let bytes = value.parse().map_err(|_| format!("`{}`: expected a number of bytes", shown()))?;
            length = Some(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_faults_are_named() {
        let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let whole = format!("Content-Type: x\r\ncontent-length: {}\r\n\r\n{exit}", exit.len());
        assert_eq!(read(&mut whole.as_bytes()), Ok(Some(exit.into())));
        assert_eq!(read(&mut &b""[..]), Ok(None));
        let long = "x".repeat(10_000);
        for (input, expected) in [
            ("garbage", "`garbage` is no header: expected `Content-Length: N`, then a blank line"),
            (
                "Content-Length: 2\n\n{}",
                "`Content-Length: 2` is no header: expected `Content-Length: N`, then a blank line",
            ),
            ("Content-Length: 2", "`Content-Length: 2` is no header: expected `Content-Length: N`, then a blank line"),
            ("Content-Length: -2\r\n\r\n{}", "`Content-Length: -2`: expected a number of bytes"),
            ("A: b\r\n\r\n{}", "a message without Content-Length"),
            ("Content-Length: 9\r\n\r\n{}", "the input ends within a message: 2 of 9 bytes"),
            ("Content-Length: 99999999999999\r\n\r\n{}", "a message of 99999999999999 bytes: up to 134217728 are read"),
            (&long, "`xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` is no header"),
        ] {
            let error = read(&mut input.as_bytes()).expect_err(input);
            assert!(error.starts_with(expected), "{input}: {error}");
        }
    }

    #[test]
    fn what_is_no_message_is_answered_and_the_next_one_is_read() {
        for (text, id, code) in [
            ("{\"jsonrpc\":", Value::Null, -32700),
            ("\u{0}", Value::Null, -32700),
            ("[]", Value::Null, -32600),
            ("42", Value::Null, -32600),
            ("{\"id\":5}", json!(5), -32600),
            ("{\"id\":\"a\",\"method\":7}", json!("a"), -32600),
            ("{\"id\":1.5,\"method\":\"m\"}", json!(1.5), -32600),
            ("{\"id\":{},\"method\":\"m\"}", Value::Null, -32600),
        ] {
            let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
            let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
            let (incoming, receiver) = bounded(1);
            let mut output = Vec::new();
            pass_on(&mut (framed(text) + &framed(exit)).as_bytes(), &incoming, &mut output).unwrap();
            assert!(matches!(receiver.try_recv(), Ok(Message::Notification(_))), "{text}");
            let answer = read(&mut &output[..]).unwrap().unwrap();
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{text}");
        }
    }
}
