//! What is known of functions by their names alone, where nothing else is: lists to read and to extend.

use crate::language::Language;

/// Calls that never come back, beside the language's own words for it.
pub(crate) fn never_returns(language: Language, name: &str) -> bool {
    match language {
        Language::Ruby => matches!(name, "raise" | "fail" | "exit" | "abort" | "throw"),
        Language::Rust => matches!(name, "panic" | "unreachable" | "todo" | "unimplemented"),
        Language::Go => matches!(name, "panic"),
        Language::C | Language::Cpp => {
            matches!(name, "exit" | "abort" | "_exit" | "longjmp" | "__builtin_unreachable")
        }
        Language::Php => matches!(name, "exit" | "die"),
        Language::Lua | Language::Luau => matches!(name, "error"),
        _ => false,
    }
}

/// Methods that change what they are called on even where their result is used.
pub(crate) fn mutates(name: &str) -> bool {
    matches!(
        name,
        "add"
            | "add_all"
            | "append"
            | "clear"
            | "close"
            | "copy_from"
            | "delete"
            | "discard"
            | "enqueue"
            | "dequeue"
            | "entry"
            | "extend"
            | "get_mut"
            | "get_or_insert_with"
            | "insert"
            | "iter_mut"
            | "next"
            | "offer"
            | "poll"
            | "pop"
            | "pop_back"
            | "pop_front"
            | "popitem"
            | "popleft"
            | "push"
            | "push_back"
            | "push_str"
            | "put"
            | "read"
            | "read_line"
            | "read_to_end"
            | "read_to_string"
            | "readline"
            | "readlines"
            | "recv"
            | "remove"
            | "replace"
            | "retain"
            | "reverse"
            | "seek"
            | "send"
            | "set"
            | "setdefault"
            | "shift"
            | "sort"
            | "splice"
            | "swap"
            | "take"
            | "unshift"
            | "update"
            | "write"
            | "__next__"
            | "addAll"
            | "removeFirst"
            | "removeLast"
    )
}

/// Calls made for what the reader of a log sees: they change nothing that they are given.
pub(crate) fn only_tells(name: &str) -> bool {
    matches!(
        name,
        "print"
            | "println"
            | "printf"
            | "eprintln"
            | "eprint"
            | "puts"
            | "p"
            | "pp"
            | "log"
            | "debug"
            | "info"
            | "warn"
            | "warning"
            | "error"
            | "exception"
            | "trace"
            | "fatal"
            | "Print"
            | "Println"
            | "Printf"
            | "Errorf"
            | "Logf"
            | "WriteLine"
            | "assert"
            | "assert_eq"
            | "assert_ne"
            | "isinstance"
            | "len"
            | "echo"
            | "fprintf"
            | "Fatalf"
            | "Fprintf"
            | "Fprintln"
    )
}
