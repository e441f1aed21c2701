//! One complete block of Markdown as lines for a terminal. Pure.

use kit::text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::Look;

/// Wrapped text under way.
pub(super) struct Block {
    look: Look,
    out: String,
    /// What stands before each line: quotes and lists.
    indent: Vec<String>,
    /// The mark of an item, for the first line of it.
    mark: Option<String>,
    lists: Vec<Option<u64>>,
    words: Vec<Word>,
    table: Option<Table>,
    link: Option<String>,
}

/// A word with its colours, and how many columns it takes.
struct Word {
    text: String,
    columns: usize,
    /// It begins a new word, or goes on with the last one.
    joined: bool,
    /// A line ends behind it.
    last: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    cell: String,
}

/// A line of code.
pub(super) fn code_line(line: &str, look: Look) -> String {
    let line = text::plain_lines(line);
    match look.colour && !line.is_empty() {
        true => format!("    \x1b[36m{line}\x1b[39m\n"),
        false => format!("    {line}\n").replace("    \n", "\n"),
    }
}

impl Block {
    pub(super) fn render(markdown: &str, look: Look) -> String {
        let mut block = Block {
            look,
            out: String::new(),
            indent: Vec::new(),
            mark: None,
            lists: Vec::new(),
            words: Vec::new(),
            table: None,
            link: None,
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        for event in Parser::new_ext(markdown, options) {
            block.take(event);
        }
        block.wrap();
        block.out
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(words) => self.text(&words),
            Event::Code(words) => {
                let code = text::plain(&words);
                match (&mut self.table, self.look.colour) {
                    (Some(table), _) => table.cell.push_str(&code),
                    (None, true) => self.coloured("\x1b[36m", &code, "\x1b[39m"),
                    (None, false) => self.text(&format!("`{code}`")),
                }
            }
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => {
                if let Some(word) = self.words.last_mut() {
                    word.last = true;
                }
            }
            Event::Rule => self.line("──────────"),
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::Html(words) | Event::InlineHtml(words) => self.text(&words),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
            Event::InlineMath(words) | Event::DisplayMath(words) => self.text(&words),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.style("\x1b[1m");
                self.text(&format!("{} ", "#".repeat(level as usize)));
            }
            Tag::Strong => self.style("\x1b[1m"),
            Tag::Emphasis => self.style("\x1b[3m"),
            Tag::Strikethrough => self.style("\x1b[9m"),
            Tag::BlockQuote(_) => self.indent.push("│ ".to_owned()),
            Tag::List(first) => {
                self.wrap();
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.indent.push(" ".repeat(mark.width()));
                self.mark = Some(mark);
            }
            Tag::Table(_) => self.table = Some(Table::default()),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(text::plain(&dest_url));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.style("\x1b[22m");
                self.wrap();
            }
            TagEnd::Strong => self.style("\x1b[22m"),
            TagEnd::Emphasis => self.style("\x1b[23m"),
            TagEnd::Strikethrough => self.style("\x1b[29m"),
            TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::HtmlBlock => self.wrap(),
            TagEnd::BlockQuote(_) => {
                self.wrap();
                self.indent.pop();
            }
            TagEnd::Item => {
                self.wrap();
                self.indent.pop();
                self.mark = None;
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::TableCell => {
                if let Some(table) = &mut self.table {
                    let cell = std::mem::take(&mut table.cell);
                    table.rows.last_mut().expect("a cell stands in a row").push(cell.trim().to_owned());
                }
            }
            TagEnd::Table => self.table(),
            TagEnd::Link | TagEnd::Image => {
                if let Some(address) = self.link.take().filter(|address| !address.is_empty()) {
                    self.text(&format!(" ({address})"));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, words: &str) {
        let words = text::plain(words);
        // An address that is its own text needs no second one.
        if self.link.as_deref() == Some(words.as_str()) {
            self.link = None;
        }
        if let Some(table) = &mut self.table {
            return table.cell.push_str(&words);
        }
        for (place, word) in words.split(' ').enumerate() {
            self.word(word, word.width(), place == 0);
        }
    }

    fn coloured(&mut self, before: &str, words: &str, after: &str) {
        self.word(&format!("{before}{words}{after}"), words.width(), true);
    }

    fn style(&mut self, code: &str) {
        if self.look.colour && self.table.is_none() {
            self.word(code, 0, true);
        }
    }

    fn word(&mut self, text: &str, columns: usize, joined: bool) {
        self.words.push(Word { text: text.to_owned(), columns, joined, last: false });
    }

    /// Writes the words as lines no longer than they may be.
    fn wrap(&mut self) {
        let mut line = String::new();
        let mut columns = 0;
        let indent: usize = self.indent.iter().map(|part| part.width()).sum();
        let room = self.look.width.saturating_sub(indent).max(10);
        let words = std::mem::take(&mut self.words);
        let mut pieces = words.iter().peekable();
        while let Some(first) = pieces.next() {
            // Pieces without a space between them are never parted.
            let (mut whole, mut wide, mut last) = (first.text.clone(), first.columns, first.last);
            while let Some(next) = pieces.next_if(|next| next.joined && !last) {
                whole.push_str(&next.text);
                wide += next.columns;
                last = next.last;
            }
            if columns > 0 && wide > 0 && columns + 1 + wide > room {
                self.line(line.trim_end());
                line.clear();
                columns = 0;
            }
            if columns > 0 && wide > 0 {
                line.push(' ');
                columns += 1;
            }
            line.push_str(&whole);
            columns += wide;
            if last {
                self.line(line.trim_end());
                line.clear();
                columns = 0;
            }
        }
        if !line.trim().is_empty() {
            self.line(line.trim_end());
        }
    }

    fn line(&mut self, line: &str) {
        let (last, before) = match self.indent.split_last() {
            Some((last, before)) => (last.clone(), before.concat()),
            None => (String::new(), String::new()),
        };
        let mark = self.mark.take().unwrap_or(last);
        let whole = format!("{before}{mark}{line}");
        self.out.push_str(whole.trim_end());
        self.out.push('\n');
    }

    fn table(&mut self) {
        let Some(Table { rows, .. }) = self.table.take() else { return };
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let wide = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        for (place, row) in rows.iter().enumerate() {
            let cell =
                |(cell, width): (&String, &usize)| format!("{cell}{}", " ".repeat(width - cell.width()));
            let cells: Vec<String> = row.iter().zip(&widths).map(cell).collect();
            self.line(cells.join("  ").trim_end());
            if place == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.line(&rules.join("  "));
            }
        }
    }
}
