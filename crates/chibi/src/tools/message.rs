//! A message to another context. Plugins see it first: one may take it elsewhere, so what is no name of a context can
//! still be an address.

use kit::text;
use serde_json::{Map, Value};

use crate::hooks::Event;

use super::{Desk, Letter, Refused, argument};

pub(super) fn send(arguments: &Map<String, Value>, desk: &mut dyn Desk) -> Result<String, Refused> {
    let (to, content) = (argument(arguments, "to")?, argument(arguments, "content")?);
    let context = desk.context();
    let from = match arguments.get("from") {
        Some(Value::String(from)) if !from.trim().is_empty() => from.as_str(),
        _ => &context,
    };
    let letter = Letter { from, to, content };
    let delivered = deliver(&letter, &context, desk);
    let result = match &delivered {
        Ok(said) => said.as_str(),
        Err(Refused(why)) => why,
    };
    desk.fire(&Event::PostSendMessage { from, to, content, context_name: &context, delivery_result: result });
    delivered
}

fn deliver(letter: &Letter<'_>, context_name: &str, desk: &mut dyn Desk) -> Result<String, Refused> {
    let &Letter { from, to, content } = letter;
    let fired = desk.fire(&Event::PreSendMessage { from, to, content, context_name });
    if let Some(blocked) = &fired.blocked {
        return Err(Refused(blocked.message.clone()));
    }
    let shown = text::head(&text::plain(to), 200).to_owned();
    if let Some(claim) = fired.claim() {
        return Ok(format!("Delivered to `{shown}` via {}.", text::plain(&claim.via)));
    }
    desk.deliver(letter)?;
    Ok(format!("Put into the inbox of `{shown}`."))
}
