//! Todos, goals and memory: whole documents that the model replaces.

use kit::text::thousands;
use serde_json::{Map, Value};

use super::{Desk, Document, Reflection, Refused, argument};

pub(super) fn write(
    document: Document,
    arguments: &Map<String, Value>,
    desk: &mut dyn Desk,
) -> Result<String, Refused> {
    let content = argument(arguments, "content")?;
    desk.write(document, content)?;
    let what = match document {
        Document::Todos => "Todos",
        Document::Goals => "Goals",
        Document::Reflection => "Memory",
    };
    Ok(format!("{what} replaced: {} characters.", thousands(content.chars().count() as u64)))
}

pub(super) fn reflect(
    arguments: &Map<String, Value>,
    reflection: Reflection,
    desk: &mut dyn Desk,
) -> Result<String, Refused> {
    let Reflection::UpTo { characters: most } = reflection else {
        return Err(Refused("the memory is switched off (`reflection_enabled`)".to_owned()));
    };
    let count = argument(arguments, "content")?.chars().count();
    if count > most {
        let (count, most) = (thousands(count as u64), thousands(most as u64));
        return Err(Refused(format!(
            "not kept: it has {count} characters and may have {most}; the memory is as it was"
        )));
    }
    write(Document::Reflection, arguments, desk)
}
