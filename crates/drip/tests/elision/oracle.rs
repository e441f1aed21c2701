//! A real parser as a witness: what tree-sitter sees in a file before and after elision. Knows nothing of how we scan.

use std::collections::HashMap;
use std::ops::AddAssign;

use drip::elide::{Elided, Hides, Language, Limits, Stub, elide, symbols};
use tree_sitter::{Node, Parser, Point, Tree};

/// What the witness looks at in one language.
struct Witness {
    /// The one with the fewest errors testifies: a header may be C or C++, a script may have types.
    grammars: Vec<tree_sitter::Language>,
    /// Nodes whose body may be hidden.
    functions: &'static [&'static str],
    /// Nodes that must stay visible wherever they stand, if they have a body or are in `bodiless`.
    kept: &'static [&'static str],
    bodiless: &'static [&'static str],
}

/// What checking files found.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Report {
    pub(crate) files: usize,
    pub(crate) bytes: usize,
    pub(crate) bytes_after: usize,
    /// Function bodies that the witness knows and that are long enough.
    pub(crate) long_bodies: usize,
    pub(crate) bodies_hidden: usize,
    pub(crate) lines_hidden: usize,
    /// Files with such bodies of which we know nothing.
    pub(crate) doubted: usize,
    /// Stubs in files that the witness itself cannot parse, where it saw something else.
    pub(crate) unconfirmed: usize,
}

impl AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.bytes_after += other.bytes_after;
        self.long_bodies += other.long_bodies;
        self.bodies_hidden += other.bodies_hidden;
        self.lines_hidden += other.lines_hidden;
        self.doubted += other.doubted;
        self.unconfirmed += other.unconfirmed;
    }
}

/// Elides `text` and lets the witness confirm what the elision promises. `None`: nothing was hidden.
pub(crate) fn check(
    language: Language,
    text: &str,
    limits: &Limits,
) -> Result<(Report, Option<Elided>), String> {
    let witness = witness(language);
    let mut report = Report { files: 1, bytes: text.len(), bytes_after: text.len(), ..Report::default() };
    let trees = witness.grammars.iter().map(|grammar| (grammar, parse(grammar, text)));
    let (grammar, before) = trees.min_by_key(|(_, tree)| errors(tree)).expect("every language has a grammar");
    report.long_bodies = long_bodies(&witness, &before, limits);
    let Some(elided) = elide(language, text, limits) else {
        report.doubted = usize::from(report.long_bodies > 0 && symbols(language, text).is_empty());
        return Ok((report, None));
    };
    report.bytes_after = elided.text.len();
    report.lines_hidden = elided.lines_hidden;
    check_map(text, &elided)?;
    let kept = collect(&witness, before.root_node(), text);
    let errors_before = errors(&before);
    for stub in &elided.stubs {
        match stub.hides {
            Hides::Body => {
                report.bodies_hidden += 1;
                let testimony = check_body(&witness, &before, text, stub)
                    .and_then(|()| check_nothing_kept_inside(&kept, stub));
                // A witness that cannot read the file cannot contradict.
                match testimony {
                    Err(error) if errors_before == 0 => return Err(error),
                    Err(_) => report.unconfirmed += 1,
                    Ok(()) => {}
                }
            }
            Hides::DocComment => {
                let testimony = check_comment(&before, text, stub);
                if errors_before == 0 {
                    testimony?;
                }
            }
        }
    }
    // The grammar of C++ takes some functions with an empty body for variables with an empty value.
    let statement =
        if matches!(language, Language::C | Language::Cpp) { ";/* [DRIP-elided" } else { "/* [DRIP-elided" };
    let after_text = elided.text.replace("/* [DRIP-elided", statement);
    let after = parse(grammar, &after_text);
    if errors_before == 0 {
        if errors(&after) > 0 {
            return Err(format!("{} syntax errors where there were none", errors(&after)));
        }
        check_all_visible(&kept, &collect(&witness, after.root_node(), &after_text))?;
    }
    Ok((report, Some(elided)))
}

/// Every visible line is the original line it maps to, and every original line maps to a line of the output.
pub(crate) fn check_map(text: &str, elided: &Elided) -> Result<(), String> {
    let original: Vec<&str> = text.split_inclusive('\n').collect();
    let output: Vec<&str> = elided.text.split_inclusive('\n').collect();
    let mut next = 1;
    for (index, line) in output.iter().enumerate() {
        let (number, lines) = (index + 1, elided.original(index + 1));
        if *lines.start() != next {
            return Err(format!("output line {number} maps to {lines:?}, expected from {next}"));
        }
        let stub = elided.stubs.iter().find(|stub| stub.line_in_output == number);
        match stub {
            Some(stub) if lines != (stub.first_line..=stub.last_line) || !line.contains("[DRIP-elided ") => {
                return Err(format!("output line {number} is no stub for {lines:?}: {line:?}"));
            }
            None if lines.start() != lines.end() || original.get(next - 1) != Some(line) => {
                return Err(format!("output line {number} differs from original line {next}: {line:?}"));
            }
            _ => {}
        }
        if let Some(wrong) = lines.clone().find(|line| elided.output(*line) != number) {
            return Err(format!("original line {wrong} maps to {}, expected {number}", elided.output(wrong)));
        }
        next = lines.end() + 1;
    }
    let hidden: usize = elided.stubs.iter().map(|stub| stub.last_line + 1 - stub.first_line).sum();
    if next != original.len() + 1 || hidden != elided.lines_hidden {
        return Err(format!("{} of {} lines are accounted for, {hidden} hidden", next - 1, original.len()));
    }
    Ok(())
}

/// The hidden lines lie strictly inside one function's body, and the stub has its name.
fn check_body(witness: &Witness, tree: &Tree, text: &str, stub: &Stub) -> Result<(), String> {
    let at = Point::new(stub.first_line - 1, 0);
    let to = Point::new(stub.last_line - 1, 0);
    let mut node = tree.root_node().descendant_for_point_range(at, to);
    while let Some(inner) = node {
        if witness.functions.contains(&inner.kind()) && contains(inner, stub) {
            return name_matches(inner, text, &stub.symbol);
        }
        node = inner.parent();
    }
    Err(format!("lines {}-{} ({}) are in no function's body", stub.first_line, stub.last_line, stub.symbol))
}

fn contains(function: Node, stub: &Stub) -> bool {
    let body = body_of(function);
    let colon = function.children(&mut function.walk()).find(|child| child.kind() == ":");
    let (start, end) = (body.start_position().row + 1, body.end_position().row + 1);
    match colon {
        // Indented: comments may stand before the body's first statement, and its last line may go.
        Some(colon)
            if function.kind() == "function_definition"
                && body.child(0).is_none_or(|first| first.kind() != "{") =>
        {
            colon.start_position().row + 1 < stub.first_line && stub.last_line <= end
        }
        _ => start < stub.first_line && stub.last_line < end,
    }
}

fn name_matches(node: Node, text: &str, symbol: &str) -> Result<(), String> {
    let Some(name) = node.child_by_field_name("name").or_else(|| declarator_name(node)) else {
        return Ok(());
    };
    let squeeze = |name: &str| name.split_whitespace().collect::<String>();
    let (name, symbol) = (squeeze(&text[name.byte_range()]), squeeze(symbol));
    // Accessors go by their property's name, keys by what is between their quotes, templates by what they specialise, and
    // what a macro makes by the macro's argument.
    let accessor = matches!(name.as_str(), "get" | "set" | "init" | "add" | "remove");
    let made = matches!(name.as_str(), "TEST" | "TEST_F" | "TEST_P" | "TYPED_TEST" | "TYPED_TEST_P");
    let special = name.ends_with('>') && name.contains(&format!("{symbol}<"));
    if name.trim_matches(['"', '\'']).ends_with(symbol.trim_start_matches('~')) || accessor || special || made
    {
        Ok(())
    } else {
        Err(format!("the stub says {symbol}, the function is called {name}"))
    }
}

fn declarator_name(node: Node) -> Option<Node> {
    let mut declarator = node.child_by_field_name("declarator")?;
    while declarator.kind() != "function_declarator" {
        declarator = declarator.child_by_field_name("declarator")?;
    }
    declarator.child_by_field_name("declarator")
}

fn check_nothing_kept_inside(kept: &[Kept], stub: &Stub) -> Result<(), String> {
    match kept.iter().find(|kept| (stub.first_line..=stub.last_line).contains(&kept.line)) {
        Some(kept) => Err(format!("{} on line {} is hidden in {}", kept.signature, kept.line, stub.symbol)),
        None => Ok(()),
    }
}

/// Every hidden line of a doc comment is part of a comment or a string.
fn check_comment(tree: &Tree, text: &str, stub: &Stub) -> Result<(), String> {
    for (index, line) in
        text.split('\n').enumerate().skip(stub.first_line - 1).take(stub.last_line + 1 - stub.first_line)
    {
        let Some(column) = line.find(|c: char| !c.is_whitespace()) else { continue };
        let at = Point::new(index, column);
        let node = tree.root_node().descendant_for_point_range(at, at);
        let quiet = |node: Node| node.kind().contains("comment") || node.kind().contains("string");
        let mut around = node;
        while around.is_some_and(|node| !quiet(node)) {
            around = around.and_then(|node| node.parent());
        }
        if around.is_none() {
            return Err(format!("line {} of a hidden comment is code: {line:?}", index + 1));
        }
    }
    Ok(())
}

fn check_all_visible(before: &[Kept], after: &[Kept]) -> Result<(), String> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for kept in after {
        *left.entry(&kept.signature).or_default() += 1;
    }
    for kept in before {
        match left.get_mut(kept.signature.as_str()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(format!("lost from the tree: {} (line {})", kept.signature, kept.line)),
        }
    }
    Ok(())
}

struct Kept {
    signature: String,
    line: usize,
}

/// Every definition that must stay visible, with its words up to its body.
fn collect(witness: &Witness, root: Node, text: &str) -> Vec<Kept> {
    let mut found = Vec::new();
    walk(root, &mut |node, around| {
        let inside = around.iter().any(|node| witness.functions.contains(&node.kind()));
        let parent = around.last().map_or("", |parent| parent.kind());
        let body = node.child_by_field_name("body").or_else(|| braced(node));
        let named = node.child_by_field_name("name").or_else(|| declarator_name(node)).is_some();
        // In C a macro with a block looks like a function in a function.
        let statement = node.kind() == "function_definition"
            && body.is_some_and(|body| body.kind() == "compound_statement");
        let kept = witness.kept.contains(&node.kind()) && body.is_some() && named && !(statement && inside);
        let bodiless = witness.bodiless.contains(&node.kind());
        if kept || bodiless || (!inside && is_outer_statement(witness, node, parent)) {
            let end = body.filter(|_| kept).map_or(node.end_byte(), |body| body.start_byte());
            let signature = words(witness, node, end, text);
            found.push(Kept {
                signature: format!("{} {signature}", node.kind()),
                line: node.start_position().row + 1,
            });
        }
    });
    found
}

/// The tokens of a node before `end`, without comments and function bodies.
fn words(witness: &Witness, node: Node, end: usize, text: &str) -> String {
    let mut words = String::new();
    let mut quiet_until = 0;
    walk(node, &mut |inner, around| {
        if inner.start_byte() < quiet_until {
            return;
        }
        let body = around.last().is_some_and(|parent| {
            witness.functions.contains(&parent.kind()) && parent.child_by_field_name("body") == Some(inner)
        });
        if is_quiet(inner) || body {
            quiet_until = inner.end_byte();
        } else if inner.child_count() == 0 && inner.start_byte() < end {
            words.push_str(&text[inner.byte_range()]);
            words.push(' ');
        }
    });
    words
}

/// Imports, constants, fields and other statements without a function inside.
fn is_outer_statement(witness: &Witness, node: Node, parent: &str) -> bool {
    let outer = matches!(
        parent,
        "module"
            | "source_file"
            | "program"
            | "translation_unit"
            | "compilation_unit"
            | "class_body"
            | "declaration_list"
            | "field_declaration_list"
            | "interface_body"
            | "enum_body"
            | "enum_class_body"
            | "protocol_body"
            | "template_body"
            | "block"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
    );
    outer && node.is_named() && !is_quiet(node) && !node.is_error() && !is_function_bearing(witness, node)
}

/// A comment, or a string that stands where a statement would.
fn is_quiet(node: Node) -> bool {
    let docstring =
        node.kind() == "expression_statement" && node.child(0).is_some_and(|child| child.kind() == "string");
    node.kind().contains("comment") || docstring
}

/// Whether a body may be hidden somewhere below, so that the node's full text may change.
fn is_function_bearing(witness: &Witness, node: Node) -> bool {
    let mut bearing = false;
    walk(node, &mut |inner, _| bearing |= witness.functions.contains(&inner.kind()));
    bearing
}

fn braced(node: Node) -> Option<Node> {
    let bodies = [
        "function_body",
        "class_body",
        "enum_class_body",
        "block",
        "declaration_list",
        "template_body",
        "computed_property",
    ];
    (0..node.child_count())
        .rev()
        .filter_map(|index| node.child(index))
        .find(|child| bodies.contains(&child.kind()))
}

fn body_of(node: Node) -> Node {
    node.child_by_field_name("body").or_else(|| braced(node)).unwrap_or(node)
}

fn long_bodies(witness: &Witness, tree: &Tree, limits: &Limits) -> usize {
    let mut long = 0;
    walk(tree.root_node(), &mut |node, _| {
        if witness.functions.contains(&node.kind()) {
            let body = body_of(node);
            let lines = (body.end_position().row - body.start_position().row).saturating_sub(1);
            long += usize::from(lines >= limits.min_body);
        }
    });
    long
}

fn errors(tree: &Tree) -> usize {
    let mut errors = 0;
    walk(tree.root_node(), &mut |node, _| errors += usize::from(node.is_error() || node.is_missing()));
    errors
}

/// Every node with what is around it below the root, without recursion: real files nest deeper than a test's stack, and
/// asking a node for its parent searches the tree from its top.
fn walk<'t>(root: Node<'t>, visit: &mut dyn FnMut(Node<'t>, &[Node<'t>])) {
    let (mut cursor, mut around) = (root.walk(), Vec::new());
    loop {
        visit(cursor.node(), &around);
        let node = cursor.node();
        if cursor.goto_first_child() {
            around.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            around.pop();
            if !cursor.goto_parent() || around.is_empty() {
                return;
            }
        }
    }
}

fn parse(grammar: &tree_sitter::Language, text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(grammar).expect("the grammar fits the parser");
    parser.parse(text, None).expect("no time limit is set")
}

#[rustfmt::skip]
fn witness(language: Language) -> Witness {
    match language {
        Language::Python => Witness {
            grammars: vec![tree_sitter_python::LANGUAGE.into()],
            functions: &["function_definition"],
            kept: &["function_definition", "class_definition"],
            bodiless: &[],
        },
        Language::Rust => Witness {
            grammars: vec![tree_sitter_rust::LANGUAGE.into()],
            functions: &["function_item"],
            kept: &["function_item", "enum_item", "trait_item", "mod_item", "union_item"],
            bodiless: &["macro_definition", "struct_item", "type_item"],
        },
        Language::JavaScript => Witness {
            grammars: vec![tree_sitter_javascript::LANGUAGE.into(), tree_sitter_typescript::LANGUAGE_TSX.into()],
            ..script()
        },
        Language::TypeScript => Witness { grammars: vec![tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()], ..script() },
        Language::Tsx => Witness { grammars: vec![tree_sitter_typescript::LANGUAGE_TSX.into()], ..script() },
        Language::Go => Witness {
            grammars: vec![tree_sitter_go::LANGUAGE.into()],
            functions: &["function_declaration", "method_declaration"],
            kept: &["function_declaration", "method_declaration"],
            bodiless: &["import_declaration", "type_declaration"],
        },
        Language::Java => Witness {
            grammars: vec![tree_sitter_java::LANGUAGE.into()],
            functions: &["method_declaration", "constructor_declaration"],
            kept: &["class_declaration", "interface_declaration", "enum_declaration", "record_declaration"],
            bodiless: &["import_declaration"],
        },
        Language::C | Language::Cpp => Witness {
            grammars: if language == Language::C {
                vec![tree_sitter_c::LANGUAGE.into(), tree_sitter_cpp::LANGUAGE.into()]
            } else {
                vec![tree_sitter_cpp::LANGUAGE.into()]
            },
            functions: &["function_definition"],
            kept: &["function_definition", "struct_specifier", "union_specifier", "enum_specifier", "class_specifier", "namespace_definition"],
            bodiless: &["preproc_def", "preproc_function_def", "preproc_include", "type_definition", "alias_declaration"],
        },
        Language::CSharp => Witness {
            grammars: vec![tree_sitter_c_sharp::LANGUAGE.into()],
            functions: &["method_declaration", "constructor_declaration", "destructor_declaration", "operator_declaration",
                "conversion_operator_declaration", "accessor_declaration", "local_function_statement"],
            kept: &["class_declaration", "struct_declaration", "interface_declaration", "enum_declaration", "record_declaration",
                "local_function_statement"],
            bodiless: &["using_directive"],
        },
        Language::Kotlin => Witness {
            grammars: vec![tree_sitter_kotlin_ng::LANGUAGE.into()],
            functions: &["function_declaration", "secondary_constructor", "anonymous_initializer"],
            kept: &["function_declaration", "class_declaration", "object_declaration"],
            bodiless: &["import", "class_declaration"],
        },
        Language::Swift => Witness {
            grammars: vec![tree_sitter_swift::LANGUAGE.into()],
            functions: &["function_declaration", "init_declaration", "deinit_declaration", "computed_property", "computed_getter",
                "computed_setter", "willset_clause", "didset_clause", "subscript_declaration"],
            kept: &["function_declaration", "class_declaration", "protocol_declaration"],
            bodiless: &["import_declaration", "typealias_declaration"],
        },
        Language::Scala => Witness {
            grammars: vec![tree_sitter_scala::LANGUAGE.into()],
            functions: &["function_definition"],
            kept: &["function_definition", "class_definition", "object_definition", "trait_definition", "enum_definition"],
            bodiless: &["class_definition", "object_definition", "trait_definition", "type_definition"],
        },
        Language::Php => Witness {
            grammars: vec![tree_sitter_php::LANGUAGE_PHP.into()],
            functions: &["function_definition", "method_declaration"],
            kept: &["function_definition", "method_declaration", "class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"],
            bodiless: &["namespace_use_declaration"],
        },
    }
}

#[rustfmt::skip]
fn script() -> Witness {
    Witness {
        grammars: vec![tree_sitter_javascript::LANGUAGE.into()],
        functions: &["function_declaration", "generator_function_declaration", "function_expression", "generator_function",
            "arrow_function", "method_definition"],
        kept: &["function_declaration", "generator_function_declaration", "class_declaration", "interface_declaration", "enum_declaration"],
        bodiless: &["import_statement", "type_alias_declaration"],
    }
}
