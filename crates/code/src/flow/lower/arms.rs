//! Switches and matches.

use tree_sitter::Node;

use super::scope::{Binding, ScopeKind};
use super::{Lowerer, children, field, fields, head, named};
use crate::flow::form::{Access, Arm, Step, Stmt, Switch, Truth, VarId};
use crate::flow::shape::Shape;
use crate::language::Language;

impl Lowerer<'_> {
    pub(super) fn switch(&mut self, node: Node<'_>, label: Option<String>, out: &mut Vec<Stmt>) {
        self.scopes.enter(ScopeKind::Block);
        for init in fields(node, &["initializer"]) {
            self.statement(init, out);
        }
        let arms = self.arms(node);
        let mut subjects = fields(node, &["value", "condition", "subject"]);
        if node.kind() == "switch_expression" && subjects.is_empty() {
            subjects = named(node).into_iter().take(1).collect();
        }
        let mut step = head(node, subjects.last().copied().unwrap_or(node));
        if subjects.is_empty() {
            step.lines.1 = step.lines.0;
            step.covers = step.lines.0;
        }
        for subject in subjects {
            self.value(subject, &mut step, out);
        }
        for alias in fields(node, &["alias"]) {
            self.target(alias, Binding::Declare, &mut step, out);
        }
        let carrier = self.carrier();
        self.refer(&mut step, carrier, Access::Define, node);
        let subject = self.keep(step);
        let arms: Vec<Arm> = arms.into_iter().map(|arm| self.arm(arm, carrier)).collect();
        self.scopes.leave();
        let total = matches!(self.language, Language::Rust)
            || matches!(node.kind(), "case_match" | "select_statement")
            || (node.kind() == "switch_expression" && self.language == Language::CSharp);
        let breaks = !matches!(self.language, Language::Rust | Language::Python | Language::Ruby);
        let ordered = node.kind() != "select_statement" && !arms.iter().any(|arm| arm.falls);
        out.push(Stmt::Switch(Switch { label, subject, arms, exhaustive: total, breaks, ordered }));
    }

    fn arms<'t>(&self, node: Node<'t>) -> Vec<Node<'t>> {
        let mut found = Vec::new();
        let mut todo = vec![node];
        while let Some(at) = todo.pop() {
            for child in named(at) {
                match self.shape(child) {
                    Shape::Arm | Shape::Else => found.push(child),
                    _ if matches!(child.kind(), "block" | "switch_body" | "switch_block" | "match_block")
                        || child.kind() == "compound_statement" =>
                    {
                        todo.push(child);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn arm(&mut self, node: Node<'_>, subject: VarId) -> Arm {
        let (tests, bodies) = split(node);
        let text = self.arm_text(&tests);
        let default = matches!(node.kind(), "switch_default" | "default_case" | "default_statement")
            || (!tests.iter().any(is_guard)
                && (matches!(text.as_str(), "" | "_" | "default" | "else") || self.binds_all(&tests)));
        if !default {
            self.body.decisions += 1;
        }
        self.scopes.enter(ScopeKind::Block);
        let mut step = head(node, tests.last().copied().unwrap_or(node));
        if tests.is_empty() {
            step.lines.1 = step.lines.0;
            step.covers = step.lines.0;
        }
        self.refer(&mut step, subject, Access::Use, node);
        let (mut lead, mut body) = (Vec::new(), Vec::new());
        let patterns = matches!(
            node.kind(),
            "match_arm"
                | "case_clause"
                | "in_clause"
                | "switch_expression_arm"
                | "switch_section"
                | "switch_rule"
                | "switch_block_statement_group"
        );
        let is_closed = tests.iter().any(|test| self.is_closed(*test));
        for test in tests {
            self.arm_test(test, patterns, &mut step, &mut lead);
        }
        let test = self.keep(step);
        let falls = matches!(
            node.kind(),
            "switch_block_statement_group"
                | "case_statement"
                | "default_statement"
                | "switch_case"
                | "switch_default"
        );
        body.append(&mut lead);
        for child in bodies {
            self.statement(child, &mut body);
        }
        self.scopes.leave();
        Arm { test, text: if default { String::new() } else { text }, default, is_closed, falls, body }
    }

    /// Whether a guard never holds, whatever the subject is.
    fn is_closed(&self, test: Node<'_>) -> bool {
        let guard = if test.kind() == "if_clause" {
            named(test).first().copied()
        } else {
            field(test, &["condition"])
        };
        is_guard(&test) && guard.is_some_and(|guard| self.truth(guard) == Truth::Never)
    }

    fn arm_text(&self, tests: &[Node<'_>]) -> String {
        let (Some(first), Some(last)) = (tests.first(), tests.last()) else { return String::new() };
        let text = String::from_utf8_lossy(&self.source[first.start_byte()..last.end_byte()]);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.trim_start_matches("case ").to_owned()
    }

    /// Python's `case name:`, which takes everything.
    fn binds_all(&self, tests: &[Node<'_>]) -> bool {
        let [only] = tests else { return false };
        self.language == Language::Python
            && self.text(*only).chars().all(|c| c.is_alphanumeric() || c == '_')
            && only.named_child(0).is_some_and(|it| it.kind() == "dotted_name")
    }

    /// A pattern binds, a guard and a constant are read.
    fn arm_test(&mut self, node: Node<'_>, patterns: bool, step: &mut Step, lead: &mut Vec<Stmt>) {
        if node.kind() == "match_pattern" {
            for (child, name) in children(node) {
                if name == Some("condition") {
                    self.value(child, step, lead);
                } else {
                    self.pattern(child, step, lead);
                }
            }
        } else if matches!(node.kind(), "short_var_declaration" | "receive_statement" | "send_statement") {
            for left in fields(node, &["left"]) {
                self.target(left, Binding::Declare, step, lead);
            }
            for (child, name) in children(node) {
                if name != Some("left") {
                    self.value(child, step, lead);
                }
            }
        } else if patterns
            && !matches!(node.kind(), "if_clause" | "guard" | "when_clause" | "if_guard" | "unless_guard")
        {
            self.pattern(node, step, lead);
        } else {
            self.value(node, step, lead);
        }
    }

    /// A pattern: lower-case names are bound, anything else in it is a constant or a type.
    fn pattern(&mut self, node: Node<'_>, step: &mut Step, lead: &mut Vec<Stmt>) {
        let mut todo = vec![node];
        while let Some(at) = todo.pop() {
            let lower = self.text(at).starts_with(|c: char| c.is_lowercase() || c == '_');
            let kind = at.kind();
            match self.shape(at) {
                Shape::Name if lower && !self.binds_by_field() => self.bind(at, Binding::Declare, step),
                Shape::Name => {}
                Shape::Member => self.value(at, step, lead),
                Shape::Call => self.value(at, step, lead),
                _ if matches!(kind, "scoped_identifier" | "field_access" | "qualified_name") => {}
                _ if kind == "guard" => named(at).into_iter().for_each(|it| self.value(it, step, lead)),
                _ if kind == "dotted_name" => {
                    if let [only] = named(at).as_slice() {
                        todo.push(*only);
                    }
                }
                _ if matches!(kind, "class_pattern" | "tuple_struct_pattern" | "record_pattern") => {
                    let skip = field(at, &["type"]).is_none();
                    todo.extend(named(at).into_iter().skip(usize::from(skip)).rev());
                }
                _ if matches!(kind, "field_pattern" | "keyword_pattern") => {
                    let inner = field(at, &["pattern", "value"]).or_else(|| field(at, &["name"]));
                    todo.extend(inner.or_else(|| named(at).pop()));
                }
                _ if self.binds_by_field() => {
                    if matches!(kind, "type_pattern" | "record_pattern_component") {
                        if let Some(name) = named(at).pop().filter(|it| it.kind() == "identifier") {
                            self.bind(name, Binding::Declare, step);
                        }
                        continue;
                    }
                    for (child, name) in children(at) {
                        if name == Some("name") && self.shape(child) == Shape::Name {
                            self.bind(child, Binding::Declare, step);
                        } else {
                            todo.push(child);
                        }
                    }
                }
                _ => todo.extend(named(at).into_iter().rev()),
            }
        }
    }

    /// Languages whose patterns mark what they bind; elsewhere a bare name in a pattern is new.
    fn binds_by_field(&self) -> bool {
        matches!(self.language, Language::CSharp | Language::Java)
    }
}

/// A condition beside the pattern.
fn is_guard(node: &Node<'_>) -> bool {
    matches!(node.kind(), "if_clause" | "guard" | "when_clause" | "if_guard" | "unless_guard")
        || field(*node, &["condition"]).is_some()
        || named(*node).iter().any(|inner| inner.kind() == "guard")
}

/// An arm's test and its body: what stands before and after the last mark between them.
fn split(node: Node<'_>) -> (Vec<Node<'_>>, Vec<Node<'_>>) {
    let mut cursor = node.walk();
    let all: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let mark = all.iter().rposition(|it| matches!(it.kind(), ":" | "=>" | "->"));
    let wanted = |it: &&Node<'_>| it.is_named() && !it.is_extra();
    if let Some(mark) = mark {
        return (
            all[..mark].iter().filter(wanted).copied().collect(),
            all[mark + 1..].iter().filter(wanted).copied().collect(),
        );
    }
    if node.kind() == "else" {
        return (Vec::new(), all.iter().filter(wanted).copied().collect());
    }
    let body = field(node, &["body", "consequence"]).map(|it| it.id());
    let (bodies, tests) = all.iter().filter(wanted).copied().partition(|it| Some(it.id()) == body);
    (tests, bodies)
}
