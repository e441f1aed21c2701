//! Where the effects of the built-in tools go: the context that is held, the inboxes of others, the plugins that listen.

use crate::context::{self, Context, Prompt, Query};
use crate::failure;
use crate::hooks::{Event, Fired};
use crate::moment::Moment;
use crate::run::Run;
use crate::tools::{self, Document, Hit, Letter, Refused};

pub(crate) struct Desk<'a> {
    pub(crate) run: &'a mut Run,
    pub(crate) context: &'a mut Context,
}

impl tools::Desk for Desk<'_> {
    fn context(&self) -> String {
        self.context.name().as_str().to_owned()
    }

    fn write(&mut self, document: Document, text: &str) -> Result<(), Refused> {
        let written = match document {
            Document::Todos => self.context.set_document(context::Document::Todos, text),
            Document::Goals => self.context.set_document(context::Document::Goals, text),
            Document::Reflection => self.run.home.set_prompt(Prompt::Reflection, text),
        };
        written.map_err(|error| Refused(failure::line("not kept", &error)))
    }

    fn deliver(&mut self, letter: &Letter<'_>) -> Result<(), Refused> {
        let sent = context::inbox::send(&self.run.home, letter.to, letter.from, letter.content);
        sent.map(drop).map_err(|error| Refused(failure::line("not sent", &error)))
    }

    fn search(&mut self, query: &str, most: usize) -> Result<Vec<Hit>, Refused> {
        let found = self.context.search(&Query::new(query), most);
        let found = found.map_err(|error| Refused(failure::line("cannot search", &error)))?;
        let offset = self.run.offset();
        let hit = |entry: context::Entry| Hit {
            id: entry.id.0,
            when: Moment::new(i64::try_from(entry.timestamp).unwrap_or(i64::MAX), offset).minute(),
            from: entry.from,
            content: entry.content,
        };
        Ok(found.into_iter().map(hit).collect())
    }

    fn fire(&mut self, event: &Event<'_>) -> Fired {
        let name = self.context.name().clone();
        self.run.fire(event, &name)
    }
}
