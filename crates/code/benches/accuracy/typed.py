"""What jedi says about every name of a package that is read: which function or class of the package it is.

usage: typed.py ROOT FOLDER > truth.json

A row is [file, line, caller, file, callee, how]. `how` is "call" where jedi's `goto` leads from the name of a call to
a function or class, "value" where only its inference of the value does or where the constructor of a class that is
called is a parent's, and "use" for names that are not called: references, decorators, properties.
"""

import ast
import json
import sys
from pathlib import Path

import jedi
from jedi.api.environment import SameEnvironment

from naming import Names

# One for all: each starts a process.
ENVIRONMENT = SameEnvironment()


def sites(tree):
    """Every name that is read, with the name of the function that reads it, and whether it is called."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}

    def visit(node, caller, names):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            outside = [*node.decorator_list, *defaults(node.args), *annotations(node)]
            for one in outside:
                yield from visit(one, caller, names)
            inner = names.of(node)
            for one in node.body:
                yield from visit(one, inner, names)
            return
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            yield node, caller, node in called
        for child in ast.iter_child_nodes(node):
            yield from visit(child, caller, names)

    names = Names(tree)
    return names, visit(tree, "<module>", names)


def defaults(args):
    return [one for one in [*args.defaults, *args.kw_defaults] if one is not None]


def annotations(function):
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    found = [one.annotation for one in every if one is not None and one.annotation is not None]
    return found + ([function.returns] if function.returns is not None else [])


def position(node, lines):
    """Where jedi is asked: inside the last part of a dotted name, in characters."""
    line, column = node.lineno, node.col_offset
    if isinstance(node, ast.Attribute):
        line, column = node.end_lineno, node.end_col_offset - 1
    return line, len(lines[line - 1].encode()[:column].decode(errors="ignore"))


def targets(found, trees):
    """The definitions of the package among what jedi found, as (file, name)."""
    for one in found:
        known = trees.get(str(one.module_path))
        if known is not None and one.type in ("function", "class"):
            name = known.at_line(one.line)
            if name is not None:
                yield known.file, name


class Constructors:
    """Where jedi finds the constructors of classes, which may be those of their parents."""

    def __init__(self, project):
        self.project, self.known = project, {}

    def of(self, found):
        for one in found:
            if one.type == "class" and one.full_name:
                yield from self._of(one.full_name, one.module_name)

    def _of(self, name, module):
        if name not in self.known:
            code = f"import {module}\n{name}."
            asked = [(code + method, len(name) + 2) for method in ("__init__", "__new__")]
            self.known[name] = [one for text, at in asked for one in self._goto(text, at)]
        return self.known[name]

    def _goto(self, text, at):
        try:
            script = jedi.Script(text, project=self.project, environment=ENVIRONMENT)
            return script.goto(2, at, follow_imports=True)
        except Exception:
            return []


def main(root, folder):
    root = Path(root).resolve()
    package = root / folder
    project = jedi.Project(package.parent, sys_path=[str(package.parent), *sys.path])
    sources, trees, reads = {}, {}, {}
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        names, found = sites(ast.parse(text))
        names.file = path.relative_to(root).as_posix()
        sources[path], trees[str(path)], reads[path] = text, names, list(found)
    rows, constructors = set(), Constructors(project)
    for path, text in sources.items():
        script = jedi.Script(text, path=path, project=project, environment=ENVIRONMENT)
        lines = text.split("\n")
        file = trees[str(path)].file
        for node, caller, called in reads[path]:
            at = position(node, lines)
            for how, ask in [("call" if called else "use", script.goto), ("value", script.infer)]:
                try:
                    found = ask(*at, follow_imports=True) if ask == script.goto else ask(*at)
                except Exception:  # jedi gives up in many ways, and then it has said nothing
                    continue
                for to_file, callee in targets(found, trees):
                    rows.add((file, at[0], caller, to_file, callee, how))
                for to_file, callee in targets(constructors.of(found) if called else [], trees):
                    rows.add((file, at[0], caller, to_file, callee, "value"))
    json.dump({"edges": sorted(rows)}, sys.stdout)


main(*sys.argv[1:])
