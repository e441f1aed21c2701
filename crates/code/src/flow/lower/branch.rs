//! Decisions: `if` in all its spellings, switches and matches, guarded bodies.

use tree_sitter::Node;

use super::scope::{Binding, ScopeKind};
use super::{Lowerer, children, field, fields, head, named, span};
use crate::flow::form::{
    Access, Arm, ChoiceArm, Handler, Step, StepId, Stmt, Swallows, Switch, Test, Truth, Try, VarId,
};
use crate::flow::shape::Shape;
use crate::language::Language;

impl Lowerer<'_> {
    pub(super) fn choice(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        self.scopes.enter(ScopeKind::Block);
        for init in fields(node, &["initializer"]) {
            self.statement(init, out);
        }
        let (mut arms, mut otherwise) = (Vec::new(), Vec::new());
        let mut at = node;
        loop {
            let arm = self.arm_of_choice(at);
            arms.push(arm);
            let mut rest = fields(at, &["alternative"]).into_iter();
            let mut chained = None;
            for alternative in rest.by_ref() {
                let inner = self.else_if(alternative);
                match inner {
                    Some(inner)
                        if self.shape(inner) == Shape::ElseIf && field(inner, &["alternative"]).is_none() =>
                    {
                        arms.push(self.arm_of_choice(inner));
                    }
                    Some(inner) => chained = Some(inner),
                    None => self.statement(alternative, &mut otherwise),
                }
            }
            match chained {
                Some(next) => at = next,
                None => break,
            }
        }
        self.scopes.leave();
        if self.shape(node) == Shape::Unless
            && let Some(arm) = arms.first_mut()
        {
            std::mem::swap(&mut arm.body, &mut otherwise);
        }
        out.push(Stmt::Choice { arms, otherwise });
    }

    fn arm_of_choice(&mut self, node: Node<'_>) -> ChoiceArm {
        self.body.decisions += 1;
        let mut lead = Vec::new();
        let test = match field(node, &["condition"]) {
            Some(condition) => self.test(node, condition, &mut lead),
            None => Test { step: self.keep(span(node)), truth: Truth::Unknown, text: String::new() },
        };
        let mut body = Vec::new();
        self.scopes.enter(ScopeKind::Block);
        for consequence in fields(node, &["consequence", "body"]) {
            self.statement(consequence, &mut body);
        }
        self.scopes.leave();
        ChoiceArm { lead, test, body }
    }

    /// The `if` that an `else` consists of: a chain of these is one choice, however long.
    fn else_if<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let inner = match self.shape(node) {
            Shape::ElseIf | Shape::If => node,
            Shape::Else => match named(node).as_slice() {
                [only] if self.shape(*only) == Shape::If => *only,
                _ => return None,
            },
            _ => return None,
        };
        let modifier = inner.kind().ends_with("_modifier");
        (!modifier && field(inner, &["initializer"]).is_none()).then_some(inner)
    }

    /// `let pattern = value else { … }`.
    pub(super) fn let_else(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let Some(alternative) = field(node, &["alternative"]) else { return self.value(node, step, out) };
        let value = field(node, &["value"]);
        let mut test = head(node, value.unwrap_or(node));
        self.value(node, &mut test, out);
        let text = value.map(|it| self.shown(it)).unwrap_or_default();
        self.body.decisions += 1;
        let test = Test { step: self.keep(test), truth: Truth::Unknown, text };
        let mut otherwise = Vec::new();
        self.statement(alternative, &mut otherwise);
        out.push(Stmt::Choice {
            arms: vec![ChoiceArm { lead: Vec::new(), test, body: Vec::new() }],
            otherwise,
        });
    }

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
        let guard = |it: &Node<'_>| {
            matches!(it.kind(), "if_clause" | "guard" | "when_clause" | "if_guard" | "unless_guard")
                || field(*it, &["condition"]).is_some()
                || named(*it).iter().any(|inner| inner.kind() == "guard")
        };
        let guarded = tests.iter().any(guard);
        let text = match (tests.first(), tests.last()) {
            (Some(first), Some(last)) => {
                let bytes = &self.source[first.start_byte()..last.end_byte()];
                String::from_utf8_lossy(bytes)
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .trim_start_matches("case ")
                    .to_owned()
            }
            _ => String::new(),
        };
        let binds_all = self.language == Language::Python
            && matches!(tests.as_slice(), [only] if self.text(*only).chars().all(|c| c.is_alphanumeric() || c == '_')
                && only.named_child(0).is_some_and(|it| it.kind() == "dotted_name"));
        let default = !guarded && (matches!(text.as_str(), "" | "_" | "default" | "else") || binds_all);
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
        let default =
            default || matches!(node.kind(), "switch_default" | "default_case" | "default_statement");
        Arm { test, text: if default { String::new() } else { text }, default, falls, body }
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

    pub(super) fn guarded(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let parts = named(node);
        let guards = |it: &Node<'_>| matches!(self.shape(*it), Shape::Handler | Shape::Finally);
        if !parts.iter().any(guards) && field(node, &["resources"]).is_none() {
            return self.statements(node, out);
        }
        let mut it = Try::default();
        let line = super::first_line(node);
        if node.kind() != "body_statement" {
            self.push(
                Step { lines: (line, line), covers: line, inert: true, ..Step::default() },
                &mut it.body,
            );
        }
        self.scopes.enter(ScopeKind::Block);
        let resources = self.resources(node, &mut it.body);
        let mut plain = Vec::new();
        for part in parts {
            match self.shape(part) {
                Shape::Handler => {
                    let handler = self.handler(part);
                    it.handlers.push(handler);
                }
                Shape::Else => self.statement(part, &mut it.otherwise),
                Shape::Finally => self.statement(part, &mut it.finally),
                _ if part.kind() == "resource_specification" => {}
                _ => self.statement(part, &mut plain),
            }
        }
        match resources {
            Some(head) => it.body.push(Stmt::With { head, body: plain, swallows: Swallows::Never }),
            None => it.body.extend(plain),
        }
        self.scopes.leave();
        out.push(Stmt::Try(it));
    }

    /// Java's `try (resource)`: the body runs inside it.
    fn resources(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) -> Option<StepId> {
        let resources = field(node, &["resources"])?;
        let mut step = span(resources);
        step.may_raise = true;
        self.value(resources, &mut step, out);
        Some(self.keep(step))
    }

    fn handler(&mut self, node: Node<'_>) -> Handler {
        self.body.decisions += 1;
        self.scopes.enter(ScopeKind::Block);
        let parts = named(node);
        let body = field(node, &["body"])
            .or_else(|| parts.iter().copied().find(|it| self.shape(*it) == Shape::Block));
        let tests: Vec<_> =
            parts.iter().copied().filter(|it| Some(it.id()) != body.map(|it| it.id())).collect();
        let mut step = match tests.last() {
            Some(last) => head(node, *last),
            None => Step { lines: (super::first_line(node), super::first_line(node)), ..head(node, node) },
        };
        step.covers = step.lines.1;
        let text = tests.first().map(|it| self.shown(*it)).unwrap_or_default();
        let mut ahead = Vec::new();
        for test in &tests {
            match test.kind() {
                "catch_formal_parameter" | "catch_declaration" | "parameter_list" => {
                    self.parameters(*test, &mut step);
                }
                "exception_variable" => self.target(*test, Binding::Assign, &mut step, &mut ahead),
                _ if node.child_by_field_name("parameter").is_some() => {
                    self.target(*test, Binding::Declare, &mut step, &mut ahead);
                }
                _ => self.value(*test, &mut step, &mut ahead),
            }
        }
        step.refs.sort_by_key(|it| it.access != Access::Use);
        let head = self.keep(step);
        let mut list = ahead;
        if let Some(body) = body {
            self.statement(body, &mut list);
        }
        self.scopes.leave();
        let total = match self.language {
            Language::JavaScript | Language::TypeScript => true,
            Language::Java | Language::Php => text.contains("Throwable"),
            Language::CSharp => {
                !tests.iter().any(|it| it.kind() == "catch_filter_clause")
                    && (tests.is_empty() || text.starts_with("Exception"))
            }
            Language::Cpp => text.contains("..."),
            Language::Ruby => !tests.iter().any(|it| it.kind() == "exceptions"),
            _ => tests.is_empty(),
        };
        Handler { head, text, catches_all: total, body: list }
    }
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
