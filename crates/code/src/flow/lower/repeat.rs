//! Loops of every spelling.

use tree_sitter::Node;

use super::scope::{Binding, ScopeKind};
use super::{Lowerer, field, fields, head, named};
use crate::flow::form::{Access, Loop, LoopKind, Step, Stmt, Test, Truth};
use crate::flow::shape::Shape;
use crate::language::Language;

impl Lowerer<'_> {
    pub(super) fn repeat(&mut self, node: Node<'_>, label: Option<String>, out: &mut Vec<Stmt>) {
        self.scopes.enter(ScopeKind::Block);
        self.body.decisions += 1;
        let broken_with = self.broken_with;
        self.broken_with = (broken_with.1, None);
        let label = label.or_else(|| self.own_label(node));
        let mut it = match self.shape(node) {
            Shape::While => self.tested(node, LoopKind::While, |truth| truth),
            Shape::Until => self.tested(node, LoopKind::While, opposite),
            Shape::DoWhile => self.tested(node, LoopKind::Until, |truth| truth),
            Shape::DoUntil => self.tested(node, LoopKind::Until, opposite),
            Shape::Forever => self.forever(node),
            Shape::For => self.counted(node, out),
            _ => self.each(node, out),
        };
        it.label = label;
        if let Some(body) = field(node, &["body"]) {
            self.statement(body, &mut it.body);
        }
        for otherwise in fields(node, &["alternative"]) {
            self.statement(otherwise, &mut it.otherwise);
        }
        self.scopes.leave();
        self.broken_with = broken_with;
        self.broken_with.1 = None;
        out.push(Stmt::Loop(it));
    }

    fn tested(&mut self, node: Node<'_>, kind: LoopKind, sense: fn(Truth) -> Truth) -> Loop {
        let mut it = empty(kind);
        if let Some(condition) = field(node, &["condition"]) {
            let from = if kind == LoopKind::Until { condition } else { node };
            it.test = self.test(from, condition, &mut it.lead);
            it.test.truth = sense(it.test.truth);
            if sense(Truth::Always) == Truth::Never {
                it.test.text = format!("not ({})", it.test.text);
            }
        } else {
            it.test = self.always(node);
        }
        it
    }

    fn forever(&mut self, node: Node<'_>) -> Loop {
        // A loop without a question decides nothing.
        self.body.decisions -= 1;
        Loop { test: self.always(node), ..empty(LoopKind::While) }
    }

    fn always(&mut self, node: Node<'_>) -> Test {
        let mut step = head(node, node);
        step.lines.1 = step.lines.0;
        step.covers = step.lines.0;
        Test { step: self.keep(step), truth: Truth::Always, text: String::new() }
    }

    /// `for (init; test; update)`, and Go's `for` in its three spellings.
    fn counted(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) -> Loop {
        let mut at = node;
        if self.language == Language::Go {
            match named(node).into_iter().find(|it| it.kind() != "block") {
                Some(range) if range.kind() == "range_clause" => return self.each(node, out),
                Some(clause) if clause.kind() == "for_clause" => at = clause,
                Some(condition) => {
                    let mut it = empty(LoopKind::While);
                    it.test = self.test(node, condition, &mut it.lead);
                    return it;
                }
                None => return self.forever(node),
            }
        } else if self.language == Language::Python {
            return self.each(node, out);
        }
        for init in fields(at, &["initializer", "init", "initialize"]) {
            self.statement(init, out);
        }
        let mut it = empty(LoopKind::While);
        match field(at, &["condition"]).filter(|it| it.is_named() && it.kind() != "empty_statement") {
            Some(condition) => it.test = self.test(node, condition, &mut it.lead),
            None => it.test = self.forever(node).test,
        }
        for update in fields(at, &["update", "increment"]) {
            self.statement(update, &mut it.update);
        }
        it
    }

    /// One element after another.
    fn each(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) -> Loop {
        let clause = named(node)
            .into_iter()
            .find(|it| matches!(it.kind(), "range_clause" | "for_generic_clause" | "for_numeric_clause"))
            .unwrap_or(node);
        let mut it = empty(LoopKind::Each);
        let parts: Vec<Node<'_>> = named(clause);
        let mut sources = fields(clause, &["right", "value", "start", "end", "step"]);
        let mut targets = fields(clause, &["left", "pattern", "name", "declarator"]);
        if clause.kind() == "for_generic_clause" || (sources.is_empty() && self.language == Language::Php) {
            let middle = if self.language == Language::Php { (1, 0) } else { (0, 1) };
            let parts: Vec<_> = parts.iter().filter(|it| it.kind() != "compound_statement").collect();
            targets = parts.get(middle.0).map(|it| **it).into_iter().collect();
            sources = parts.get(middle.1).map(|it| **it).into_iter().collect();
        }
        if self.language == Language::Java {
            sources = fields(clause, &["value"]);
            targets = fields(clause, &["name"]);
        }
        let last = sources.last().or(parts.last()).copied().unwrap_or(node);
        let mut step = head(node, last);
        step.may_raise = true;
        for source in &sources {
            self.value(*source, &mut step, out);
        }
        let plain = self.language == Language::Python
            || (clause.kind() == "for_in_statement" && clause.child_by_field_name("kind").is_none())
            || (clause.kind() == "range_clause" && !self.text(clause).contains(":="));
        for target in targets {
            self.target(target, if plain { Binding::Assign } else { Binding::Declare }, &mut step, out);
        }
        let text = self.shown(clause).split(" {").next().unwrap_or_default().to_owned();
        let text = if clause.id() == node.id() {
            sources.first().map(|it| self.shown(*it)).unwrap_or_default()
        } else {
            text
        };
        it.test = Test { step: self.keep(step), truth: Truth::Unknown, text };
        it
    }

    /// A call that is given a block, as in Ruby: the block runs any number of times.
    pub(super) fn block_call(&mut self, node: Node<'_>, block: Node<'_>, out: &mut Vec<Stmt>) {
        self.scopes.enter(ScopeKind::Own);
        self.body.decisions += 1;
        let mut step = head(node, node);
        step.lines.1 = super::first_line(block).max(step.lines.0);
        step.covers = step.lines.1;
        self.effect = Some(node.id());
        self.call_without_block(node, &mut step, out);
        if let Some(parameters) = field(block, &["parameters"]) {
            self.parameters(parameters, &mut step);
        }
        let mut it = empty(LoopKind::Each);
        let receiver = field(node, &["receiver"]).or_else(|| field(node, &["method"]));
        let text = receiver.map(|it| self.shown(it)).unwrap_or_default();
        it.test = Test { step: self.keep(step), truth: Truth::Unknown, text };
        if let Some(body) = field(block, &["body"]) {
            self.statement(body, &mut it.body);
        }
        self.scopes.leave();
        out.push(Stmt::Loop(it));
    }

    fn own_label(&self, node: Node<'_>) -> Option<String> {
        let label = named(node).into_iter().find(|it| it.kind() == "label")?;
        Some(self.text(label).trim_start_matches('\'').to_owned())
    }

    /// A test over the lines from `from` to the end of the condition.
    pub(super) fn test(&mut self, from: Node<'_>, condition: Node<'_>, lead: &mut Vec<Stmt>) -> Test {
        let mut step = head(from, condition);
        if condition.start_position().row > from.start_position().row
            && condition.end_byte() < from.end_byte()
        {
            // A modifier (`x if y`) asks before what is written before it.
            let modifier =
                named(from).first().is_some_and(|first| first.start_byte() < condition.start_byte());
            if modifier && matches!(self.language, Language::Ruby) {
                step = head(condition, condition);
            }
        }
        self.value(condition, &mut step, lead);
        let truth = self.truth(condition);
        let text = self.shown(condition);
        Test { step: self.keep(step), truth, text }
    }

    /// What a constant test says.
    pub(super) fn truth(&self, node: Node<'_>) -> Truth {
        let mut at = node;
        while at.kind() == "parenthesized_expression" || at.kind() == "condition_clause" {
            match named(at).as_slice() {
                [inner] => at = *inner,
                _ => return Truth::Unknown,
            }
        }
        let text = self.text(at);
        if at.kind() == "not_operator" {
            return field(at, &["argument"]).map_or(Truth::Unknown, |it| opposite(self.truth(it)));
        }
        if at.kind() == "boolean_operator" {
            let side = |name| field(at, &[name]).map_or(Truth::Unknown, |it| self.truth(it));
            let is_and = field(at, &["operator"]).is_some_and(|it| it.kind() == "and");
            return match (side("left"), side("right"), is_and) {
                (Truth::Never, _, true) => Truth::Never,
                (Truth::Always, _, false) => Truth::Always,
                (Truth::Always, right, true) | (Truth::Never, right, false) => right,
                _ => Truth::Unknown,
            };
        }
        let python = self.language == Language::Python;
        match at.kind() {
            "true" | "boolean_literal" if matches!(text, "true" | "True") => Truth::Always,
            "false" | "boolean_literal" if matches!(text, "false" | "False") => Truth::Never,
            "none" => Truth::Never,
            "integer" | "number_literal" | "number"
                if python || matches!(self.language, Language::C | Language::Cpp) =>
            {
                match text.parse::<u64>() {
                    Ok(0) => Truth::Never,
                    Ok(_) => Truth::Always,
                    Err(_) => Truth::Unknown,
                }
            }
            "identifier" if python && text == "__debug__" => Truth::Always,
            "string" if python && named(at).iter().all(|it| it.kind() != "interpolation") => {
                if named(at).iter().any(|it| it.kind() == "string_content") {
                    Truth::Always
                } else {
                    Truth::Never
                }
            }
            _ => Truth::Unknown,
        }
    }

    /// What `node` gives to `var` on every round.
    pub(super) fn call_without_block(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        step.may_raise = true;
        let (receiver, name) = super::call::callee(node);
        if let Some(name) = name {
            step.calls.push(self.text(name).to_owned());
        }
        if let Some(receiver) = receiver {
            self.value(receiver, step, out);
            if name.is_some_and(|it| self.text(it).ends_with('!'))
                && let Some(var) = self.path(receiver)
            {
                self.refer(step, var, Access::Update, receiver);
            }
        }
        for argument in field(node, &["arguments"]).map(named).unwrap_or_default() {
            self.value(argument, step, out);
        }
    }
}

fn empty(kind: LoopKind) -> Loop {
    Loop {
        label: None,
        kind,
        lead: Vec::new(),
        test: Test { step: 0, truth: Truth::Unknown, text: String::new() },
        update: Vec::new(),
        body: Vec::new(),
        otherwise: Vec::new(),
    }
}

fn opposite(truth: Truth) -> Truth {
    match truth {
        Truth::Unknown => Truth::Unknown,
        Truth::Always => Truth::Never,
        Truth::Never => Truth::Always,
    }
}
