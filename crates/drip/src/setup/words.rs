//! What we tell an agent about our answers. Only words; each between markers, so that they can be taken out again.

use super::memory::{Block, Unclosed};

/// `drip.md`, which CLAUDE.md imports.
pub(super) const CLAUDE: Block = Block {
    open: "<!-- drip:memory -->",
    close: "<!-- /drip:memory -->",
    unclosed: Unclosed::Everything,
    words: "\
# Repeated reads come through drip

drip remembers which lines of a file you have been shown. When you read them again, the result may begin with
`[DRIP: …` instead of holding the file once more:

- `unchanged`: these lines are exactly what you were shown before; go on with what you have.
- `delta only`: what you were shown before, with the changes that follow, is the file as it is now.
- `edit verified`: your edit is on disk as you made it; only the lines that it touched have changed.
- `[DRIP-elided …]`: a body was left out; the stub says which lines it stands for.

None of this is an error, and reading the file again, or a part of it, will not say more. The file counts as read, so
you can edit it. Go on reading with your own tools. Only if you no longer have the earlier text, run
`drip read --full PATH` in the shell, which shows all of it, or `drip refresh PATH` and read the file again.
",
};

/// `AGENTS.md` of Codex and `GEMINI.md`, which have the MCP server as well.
pub(super) const AGENTS: Block = Block {
    open: "<!-- drip:agents-instructions -->",
    close: "<!-- /drip:agents-instructions -->",
    unclosed: Unclosed::Unknown,
    words: "\
## File reads via DRIP

Read files with the tool `read_file` of the MCP server `drip`: it remembers what you have been shown, and sends only
what is new. Its answers, and those of a repeated read with your own tools, may begin with `[DRIP: …`:

- `unchanged`: these lines are exactly what you were shown before; go on with what you have.
- `delta only`: what you were shown before, with the changes that follow, is the file as it is now.
- `[DRIP-elided …]`: a body was left out; the stub says which lines it stands for.

None of this is an error, even where it is shown as one, and reading again, or a part, will not say more. Only if you
no longer have the earlier text, ask `read_file` with `full: true`, or run `drip read --full PATH` in a shell, which
shows all of it, or `drip refresh PATH` and read the file again.
",
};
