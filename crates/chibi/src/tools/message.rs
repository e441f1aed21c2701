//! A message to another context. Plugins see it first: one may take it elsewhere, so what is no name of a context can
//! still be an address.

use kit::text;
use serde_json::{Map, Value};

use crate::context::ContextName;
use crate::hooks::Event;

use super::{Desk, Letter, Refused, argument};

/// Of an address that somebody made up.
const SHOWN: usize = 200;

pub(super) fn send(arguments: &Map<String, Value>, desk: &mut dyn Desk) -> Result<String, Refused> {
    let (to, content) = (argument(arguments, "to")?, argument(arguments, "content")?);
    let context = desk.context();
    let from = match arguments.get("from") {
        Some(Value::String(from)) if !from.trim().is_empty() => from.as_str(),
        _ => &context,
    };
    let said = Said { from, to, content, context_name: &context };
    let delivered = deliver(&said, desk);
    let result = match &delivered {
        Ok(done) => done.as_str(),
        Err(Refused(why)) => why,
    };
    desk.fire(&Event::PostSendMessage { from, to, content, context_name: &context, delivery_result: result });
    delivered
}

/// A message as the model wants it.
struct Said<'a> {
    from: &'a str,
    to: &'a str,
    content: &'a str,
    context_name: &'a str,
}

fn deliver(said: &Said<'_>, desk: &mut dyn Desk) -> Result<String, Refused> {
    let &Said { from, to, content, context_name } = said;
    let fired = desk.fire(&Event::PreSendMessage { from, to, content, context_name });
    if let Some(blocked) = fired.forbidden() {
        return Err(Refused(blocked.message));
    }
    if let Some(claim) = fired.claim() {
        let (to, via) = (text::plain(to), text::plain(&claim.via));
        return Ok(format!("Delivered to `{}` via {}.", text::head(&to, SHOWN), text::head(&via, SHOWN)));
    }
    let to = ContextName::new(to)
        .map_err(|error| Refused(format!("not sent: {error}; and no plugin delivers to it")))?;
    desk.deliver(&Letter { from, to: &to, content })?;
    Ok(format!("Put into the inbox of `{to}`."))
}
