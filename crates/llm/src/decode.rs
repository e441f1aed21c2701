//! From the bytes of an answer to events, whatever its shape: a stream, or one document although a stream was asked
//! for. Pure; knows no connection and no thread.

use serde_json::value::RawValue;

use crate::block::Wire;
use crate::error::Error;
use crate::event::{Event, Note};
use crate::price;
use crate::sse::{EVENT_CAP, Splitter};
use crate::wire::Flow;
use crate::{anthropic, openai};

/// The most bytes that one answer may have: some hundred times of what a model says at the most.
const ANSWER_CAP: u64 = 1 << 30;

#[derive(Debug)]
pub struct Decoder {
    shape: Shape,
    fed: u64,
    intake: Intake,
}

#[derive(Debug)]
enum Shape {
    /// Only blanks have come.
    Unknown,
    Stream(Splitter),
    Document(Vec<u8>),
}

impl Decoder {
    /// `model` is the one that was asked; `turn` any number that grows with the conversation.
    pub fn new(wire: Wire, model: &str, turn: usize) -> Decoder {
        let reader = match wire {
            Wire::Anthropic => Reader::Anthropic(anthropic::Reader::default()),
            Wire::OpenAi => Reader::OpenAi(openai::Reader::new(turn)),
        };
        let intake = Intake {
            reader,
            flow: Flow::More,
            failed: None,
            began: false,
            bad: None,
            model: model.to_owned(),
        };
        Decoder { shape: Shape::Unknown, fed: 0, intake }
    }

    /// Takes the next bytes and adds what they tell to `out`. Events before an error are good.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        self.fed += bytes.len() as u64;
        if self.fed > ANSWER_CAP {
            return Err(Error::malformed("it does not end"));
        }
        if matches!(self.shape, Shape::Unknown) {
            // Blanks and a BOM may stand before anything.
            let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte);
            let Some(start) = bytes.iter().position(|byte| !blank(byte)) else { return Ok(()) };
            bytes = &bytes[start..];
            self.shape = match bytes[0] {
                b'{' | b'[' => Shape::Document(Vec::new()),
                b'<' => return Err(Error::malformed("a web page")),
                _ => Shape::Stream(Splitter::default()),
            };
        }
        match &mut self.shape {
            Shape::Unknown => Ok(()),
            Shape::Document(document) if document.len() + bytes.len() > EVENT_CAP => {
                Err(Error::malformed(format!("a document of more than {EVENT_CAP} bytes")))
            }
            Shape::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
            Shape::Stream(splitter) => {
                let split = splitter.feed(bytes, &mut |data| self.intake.take(data, out));
                self.intake.failure()?;
                Ok(split?)
            }
        }
    }

    /// The provider has said that it is done: nothing that comes now counts.
    pub fn is_done(&self) -> bool {
        self.intake.flow == Flow::End
    }

    /// Nothing more will come. The last event is [`Event::Done`], or the answer is not complete.
    pub fn finish(mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        match self.shape {
            Shape::Unknown => return Err(Error::Dropped),
            Shape::Document(document) => {
                let document: &RawValue =
                    serde_json::from_slice(&document).map_err(|error| match error.is_eof() {
                        true => Error::Dropped,
                        false => Error::malformed(error.to_string()),
                    })?;
                match &mut self.intake.reader {
                    Reader::Anthropic(reader) => reader.whole(document, out)?,
                    Reader::OpenAi(reader) => reader.whole(document, out)?,
                }
            }
            Shape::Stream(splitter) => {
                splitter.finish(&mut |data| self.intake.take(data, out));
                self.intake.failure()?;
            }
        }
        self.intake.end(out)
    }
}

/// Whole frames on their way to the reader of their wire, until the stream ends or fails.
#[derive(Debug)]
struct Intake {
    reader: Reader,
    flow: Flow,
    failed: Option<Error>,
    began: bool,
    /// Why the first unreadable frame was unreadable.
    bad: Option<String>,
    /// Whose prices count.
    model: String,
}

#[derive(Debug)]
enum Reader {
    Anthropic(anthropic::Reader),
    OpenAi(openai::Reader),
}

impl Intake {
    fn take(&mut self, data: &[u8], out: &mut Vec<Event>) {
        if self.flow == Flow::End || self.failed.is_some() {
            return;
        }
        let told = out.len();
        // A whole frame cannot end within a character because of the network: what is wrong now was sent so.
        let data = String::from_utf8_lossy(data);
        let taken = match &mut self.reader {
            Reader::Anthropic(reader) => reader.frame(&data, out),
            Reader::OpenAi(reader) => reader.frame(&data, out),
        };
        match taken {
            Ok(flow) => self.flow = flow,
            Err(error) => self.failed = Some(error),
        }
        for event in &out[told..] {
            match event {
                Event::Started { model, .. } => {
                    self.began = true;
                    if let Some(model) = model {
                        self.model.clone_from(model);
                    }
                }
                Event::Note(Note::BadFrame(why)) => drop(self.bad.get_or_insert_with(|| why.clone())),
                _ => {}
            }
        }
    }

    fn failure(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn end(self, out: &mut Vec<Event>) -> Result<(), Error> {
        let ended = match self.reader {
            Reader::Anthropic(reader) => reader.end(out),
            Reader::OpenAi(reader) => reader.end(out),
        };
        ended.map_err(|error| match (error, self.bad) {
            // It was cut off, or it was something else from the start.
            (Error::Dropped, Some(why)) if !self.began => Error::Malformed(why),
            (error, _) => error,
        })?;
        if let Some(Event::Done(done)) = out.last_mut()
            && let Some(usage) = &mut done.usage
        {
            usage.cost = usage.cost.or_else(|| price::cost(&self.model, usage));
        }
        Ok(())
    }
}
