"""Random small functions, run under a tracer, with the lines that what they did really depended on.

A dynamic slice is the closure of two relations between the lines as they were executed. Data: a name that is read was
last written there. Control: the test that let the line run, be it around it or before it with a jump inside. It is
taken from the trace and the syntax alone, with no graph, so that it shares nothing with what it judges.

    dynamic.py SEED COUNT    one JSON object for each function
"""

import ast
import json
import random
import sys
from contextlib import contextmanager, suppress

NAMES = ["a", "b", "c", "d", "e"]


class Writer:
    def __init__(self, rng):
        self.rng, self.lines, self.loops, self.fresh = rng, [], 0, 0

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def name(self):
        return self.rng.choice(NAMES)

    def value(self):
        pick = self.rng.randrange(9)
        x, y = self.name(), self.name()
        return [
            f"{x} + {y}", f"{x} - {self.rng.randrange(5)}", f"{x} * 2 % 7", str(self.rng.randrange(9)), f"helper({x})",
            f"({x} if {y} > 2 else {self.name()})", f"sum([{x} for _ in range(2) if {y} > 1])", f"xs[{x} % 3]", f"len(xs) + {x}",
        ][pick]

    def test(self):
        return f"{self.name()} {self.rng.choice(['>', '<', '==', '!='])} {self.rng.choice([self.name(), str(self.rng.randrange(6))])}"

    def block(self, depth, size, in_loop):
        for _ in range(self.rng.randint(1, size)):
            self.statement(depth, in_loop)

    def statement(self, depth, in_loop):
        kinds = ["set"] * 6 + ["add", "pair", "append", "store", "call"]
        if depth < 4:
            kinds += ["if", "if", "else", "for", "while", "try", "finally", "with", "match", "closure", "forelse", "suppress"]
        if in_loop:
            kinds += ["break", "continue"]
        if depth > 1:
            kinds += ["return", "raise"]
        getattr(self, "do_" + self.rng.choice(kinds))(depth, in_loop)

    def do_set(self, depth, _):
        self.put(depth, f"{self.name()} = {self.value()}")

    def do_add(self, depth, _):
        self.put(depth, f"{self.name()} += {self.value()}")

    def do_pair(self, depth, _):
        first, second = self.rng.sample(NAMES, 2)
        self.put(depth, f"{first}, {second} = {self.value()}, {self.value()}")

    def do_append(self, depth, _):
        self.put(depth, f"xs.append({self.value()})")

    def do_store(self, depth, _):
        self.put(depth, f"xs[{self.name()} % 3] = {self.value()}")

    def do_call(self, depth, _):
        self.put(depth, f"helper({self.name()})")

    def do_if(self, depth, in_loop):
        self.put(depth, f"if {self.test()}:")
        self.block(depth + 1, 2, in_loop)

    def do_else(self, depth, in_loop):
        self.do_if(depth, in_loop)
        if self.rng.random() < 0.5:
            self.put(depth, f"elif {self.test()}:")
            self.block(depth + 1, 2, in_loop)
        self.put(depth, "else:")
        self.block(depth + 1, 2, in_loop)

    def do_for(self, depth, _):
        self.put(depth, f"for {self.name()} in range({self.name()} % 4):")
        self.block(depth + 1, 3, True)

    def do_forelse(self, depth, in_loop):
        self.do_for(depth, in_loop)
        self.put(depth, "else:")
        self.block(depth + 1, 2, in_loop)

    def do_while(self, depth, _):
        self.fresh += 1
        counter = f"n{self.fresh}"
        self.put(depth, f"{counter} = {self.name()} % 4")
        self.put(depth, f"while {counter} > 0:")
        self.put(depth + 1, f"{counter} -= 1")
        self.block(depth + 1, 3, True)

    def do_try(self, depth, in_loop):
        self.put(depth, "try:")
        self.block(depth + 1, 2, in_loop)
        self.put(depth + 1, f"{self.name()} = 7 // ({self.name()} % 3)")
        self.block(depth + 1, 2, in_loop)
        self.put(depth, "except ZeroDivisionError as problem:")
        self.block(depth + 1, 2, in_loop)
        if self.rng.random() < 0.3:
            self.put(depth, "else:")
            self.block(depth + 1, 2, in_loop)

    def do_finally(self, depth, in_loop):
        self.put(depth, "try:")
        self.block(depth + 1, 3, in_loop)
        self.put(depth, "finally:")
        for _ in range(self.rng.randint(1, 2)):
            self.do_set(depth + 1, in_loop)

    def do_with(self, depth, in_loop):
        self.put(depth, f"with resource({self.name()}) as {self.name()}:")
        self.block(depth + 1, 3, in_loop)

    def do_suppress(self, depth, in_loop):
        self.put(depth, "with suppress(ZeroDivisionError):")
        self.block(depth + 1, 2, in_loop)
        self.put(depth + 1, f"{self.name()} = 5 // ({self.name()} % 2)")
        self.do_set(depth + 1, in_loop)

    def do_match(self, depth, in_loop):
        self.put(depth, f"match {self.name()} % 3:")
        self.put(depth + 1, "case 0:")
        self.block(depth + 2, 2, in_loop)
        self.put(depth + 1, f"case {self.name()} if {self.test()}:")
        self.block(depth + 2, 2, in_loop)
        if self.rng.random() < 0.5:
            self.put(depth + 1, "case _:")
            self.block(depth + 2, 2, in_loop)

    def do_closure(self, depth, _):
        self.fresh += 1
        self.put(depth, f"g{self.fresh} = lambda v: v + {self.name()}")
        self.do_set(depth, _)
        self.put(depth, f"{self.name()} = g{self.fresh}({self.name()})")

    def do_break(self, depth, _):
        self.put(depth, f"if {self.test()}:")
        self.put(depth + 1, "break")

    def do_continue(self, depth, _):
        self.put(depth, f"if {self.test()}:")
        self.put(depth + 1, "continue")

    def do_return(self, depth, _):
        self.put(depth, f"if {self.test()}:")
        self.put(depth + 1, f"return {self.name()}")

    def do_raise(self, depth, _):
        self.put(depth, f"if {self.test()}:")
        self.put(depth + 1, "raise ZeroDivisionError")

    def function(self):
        self.put(0, "def f(a, b, c):")
        self.put(1, "d = a + 1")
        self.put(1, "e = b")
        self.put(1, "xs = [a, b, c]")
        self.block(1, 9, False)
        self.put(1, f"return {self.name()}")
        return "\n".join(self.lines) + "\n"


class Shape(ast.NodeVisitor):
    """For each line of a function: names read and written, and the headers around it."""

    def __init__(self, function):
        self.reads, self.writes, self.touches, self.parents, self.lambdas = {}, {}, {}, {}, {}
        self.jumps, self.order = [], []
        self.finals, self.withs = [], {}
        self.walk(function.body, [], [], [])

    def walk(self, body, parents, loops, tries):
        for node in body:
            line = node.lineno
            self.order.append(line)
            self.parents[line] = list(parents)
            header = self.header(node)
            self.note(line, header)
            for block, inner, more_loops, more_tries in self.blocks(node, line, parents, loops, tries):
                self.walk(block, inner, more_loops, more_tries)
            if isinstance(node, (ast.Break, ast.Continue, ast.Return, ast.Raise)):
                self.jumps.append((node, list(parents), list(loops), list(tries)))

    def header(self, node):
        if isinstance(node, (ast.If, ast.While)):
            return [node.test]
        if isinstance(node, ast.For):
            return [node.iter, node.target]
        if isinstance(node, ast.With):
            return node.items
        if isinstance(node, ast.Match):
            return [node.subject]
        if isinstance(node, ast.Try):
            return []
        return [node]

    def blocks(self, node, line, parents, loops, tries):
        end = node.end_lineno
        if isinstance(node, ast.If):
            yield node.body, parents + [line], loops, tries
            yield node.orelse, parents + [line], loops, tries
        elif isinstance(node, (ast.For, ast.While)):
            last = node.body[-1].end_lineno
            yield node.body, parents + [line], loops + [(line, last, end)], tries
            yield node.orelse, parents, loops, tries
        elif isinstance(node, ast.With):
            self.withs[line] = end
            swallows = "suppress" in ast.dump(node.items[0])
            yield node.body, parents, loops, tries + ([(line, end, node.body[-1].end_lineno)] if swallows else [])
        elif isinstance(node, ast.Match):
            seen = []
            for case in node.cases:
                at = case.pattern.lineno
                self.note(at, [case.pattern] + ([case.guard] if case.guard else []))
                self.order.append(at)
                self.parents[at] = parents + [line] + list(seen)
                seen.append(at)
                yield case.body, parents + [line] + list(seen), loops, tries
        elif isinstance(node, ast.Try):
            if node.finalbody:
                self.finals.append((line, node.finalbody[0].lineno, end))
            inner = tries + ([(line, end, node.body[-1].end_lineno)] if node.handlers else [])
            yield node.body, parents, loops, inner
            for handler in node.handlers:
                self.order.append(handler.lineno)
                self.parents[handler.lineno] = list(parents)
                self.note(handler.lineno, [])
                if handler.name:
                    self.writes[handler.lineno].add(handler.name)
                yield handler.body, parents + [handler.lineno], loops, tries
            yield node.orelse, parents, loops, tries
            yield node.finalbody, parents, loops, tries

    def note(self, line, nodes):
        captured = set()
        reads, writes, touches = (it.setdefault(line, set()) for it in (self.reads, self.writes, self.touches))
        for root in nodes:
            bound = {n.id for comp in ast.walk(root) if isinstance(comp, ast.comprehension) for n in ast.walk(comp.target) if isinstance(n, ast.Name)}
            for node in ast.walk(root):
                if isinstance(node, ast.Name) and node.id not in bound:
                    (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
                if isinstance(node, ast.MatchAs) and node.name:
                    writes.add(node.name)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
                    touches.add(node.func.value.id)
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                    touches.add(node.value.id)
                if isinstance(node, ast.AugAssign):
                    reads.add(node.target.id)
            if isinstance(root, ast.pattern):
                captured = set(writes)
            if isinstance(root, ast.Assign) and isinstance(root.value, ast.Lambda):
                free = {n.id for n in ast.walk(root.value.body) if isinstance(n, ast.Name)} - {"v"}
                self.lambdas[root.targets[0].id] = free

        reads -= captured

    def skippers(self, line):
        """Headers before or around a line whose jump would have skipped it, with the loop of a `continue`."""
        found = set()
        for node, parents, loops, tries in self.jumps:
            if not parents:
                continue
            start, end = 0, 10**9
            around = [span for span in loops]
            if isinstance(node, (ast.Break, ast.Continue)):
                start, last, end = loops[-1]
                end = end if isinstance(node, ast.Break) else last
                around = loops[-1:]
            elif isinstance(node, ast.Raise) and tries:
                start, _, end = tries[-1]
                around = [span for span in loops if span[0] > start]
            same_loop = any(first <= line <= last for first, last, _ in around)
            if isinstance(node, ast.Continue):
                same_loop = False
            if any(first <= node.lineno < begin <= line <= last for first, begin, last in self.finals):
                continue
            if start <= line <= end and (line > node.lineno or same_loop):
                since = start if isinstance(node, ast.Continue) else None
                found.update((p, since) for p in parents if p >= start)
        return found


def trace(source, arguments):
    space = {"helper": lambda x: x + 1, "resource": resource, "suppress": suppress}
    exec(compile(source, "generated", "exec"), space)
    events = []

    def local(frame, event, argument):
        if event == "line":
            events.append([frame.f_lineno, False])
        elif event == "exception" and events:
            events.append([frame.f_lineno, True])
        return local

    sys.settrace(lambda frame, event, argument: local if frame.f_code.co_name == "f" else None)
    try:
        space["f"](*arguments)
    except (ZeroDivisionError, UnboundLocalError):
        pass
    finally:
        sys.settrace(None)
    return events


@contextmanager
def resource(value):
    yield value + 1


def slices(source, events):
    """The dynamic slice of the last execution of each line."""
    shape = Shape(ast.parse(source).body[0])
    written = {name: {-1} for name in "abc"}
    before = {-1: set()}
    last, line_of, final = {}, {-1: 1}, {}
    raised = None
    handlers = {line for line in shape.writes if "problem" in shape.writes[line]}
    previous, undo = None, {}
    for index, (line, failed) in enumerate(events):
        if failed:
            if previous is not None and line == line_of[previous]:
                raised = previous
                written.update(undo)  # what raised has written nothing
                undo = {}
            continue
        if line not in shape.reads:
            continue
        if previous is not None and line < line_of[previous] <= shape.withs.get(line, 0):
            continue  # a resource is left on the line where it was entered
        deps = set()
        reads = set(shape.reads[line])
        for name in list(reads):
            reads |= shape.lambdas.get(name, set())
        for name in reads | shape.touches[line]:
            deps |= written.get(name, set())
        for header, since in {(it, None) for it in shape.parents[line]} | shape.skippers(line):
            # A `continue` skips the rest of its own round only.
            if header in last and last[header] >= last.get(since, -1):
                deps.add(last[header])
        if line in handlers and raised is not None:
            deps.add(raised)
        before[index], line_of[index] = deps, line
        undo = {name: written.get(name, set()) for name in shape.writes[line] | shape.touches[line]}
        for name in shape.writes[line]:
            written[name] = {index}
        for name in shape.touches[line]:
            written[name] = written.get(name, set()) | {index}
        last[line], final[line], previous = index, index, index
    result = {}
    for line, index in final.items():
        seen, todo = set(), [index]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo.extend(before.get(at, ()))
        result[line] = sorted({line_of[at] for at in seen})
    return result


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    for number in range(count):
        rng = random.Random(seed * 1_000_003 + number)
        source = Writer(rng).function()
        merged = {}
        for _ in range(3):
            arguments = [rng.randrange(6) for _ in range(3)]
            for line, lines in slices(source, trace(source, arguments)).items():
                merged.setdefault(line, []).append(lines)
        rows = [[line, several] for line, several in sorted(merged.items())]
        print(json.dumps({"seed": number, "source": source, "slices": rows}))


main()
