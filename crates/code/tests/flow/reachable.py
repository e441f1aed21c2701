"""For every function of some Python files: the lines its statements start on, and those that CPython made code for.

CPython drops what its compiler sees to be unreachable, so a statement without code cannot run. Statements that never
have code of their own are left out: bare constants, `global`, `nonlocal`, annotations without a value.

    reachable.py LIMIT    the first LIMIT files of the standard library, 0 for all
"""

import ast
import dis
import json
import os
import sys
import sysconfig
import types


def files(limit):
    root = sysconfig.get_paths()["stdlib"]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in ("site-packages", "dist-packages", "__pycache__", "lib2to3"))
        found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    found.sort(key=lambda path: (path.count(os.sep), path))
    return found[:limit] if limit else found


def codes(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes(constant)


def has_no_code(node):
    return (
        isinstance(node, (ast.Global, ast.Nonlocal))
        or isinstance(node, ast.AnnAssign) and node.value is None
        or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def headers(function):
    """The first line of each of the function's own statements, with the last line of its header."""
    lines, todo = {}, list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt) and not has_no_code(node):
            inner = [it for it in ast.iter_child_nodes(node) if isinstance(it, (ast.stmt, ast.excepthandler, ast.match_case))]
            firsts = [getattr(it, "lineno", None) or it.pattern.lineno for it in inner]
            last = min([line - 1 for line in firsts if line] + [node.end_lineno])
            lines[node.lineno] = max(last, node.lineno, lines.get(node.lineno, 0))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            todo.extend(ast.iter_child_nodes(node))
    return lines


def reaches(code, statements):
    """Which statement's code can be followed by which other's, over jumps and the exception table."""
    at = {line: first for first, last in sorted(statements.items()) for line in range(first, last + 1)}
    instructions = [it for it in dis.get_instructions(code) if it.opname not in ("RESUME", "CACHE")]
    place = {it.offset: index for index, it in enumerate(instructions)}
    following = [set() for _ in instructions]
    for index, it in enumerate(instructions):
        if it.opcode in dis.hasjrel or it.opcode in dis.hasjabs:
            following[index].add(place[it.argval])
        leaves = it.opname in ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE")
        if not leaves and not it.opname.startswith(("JUMP_FORWARD", "JUMP_BACKWARD")) and index + 1 < len(instructions):
            following[index].add(index + 1)
    for entry in dis._parse_exception_table(code):
        for offset, index in place.items():
            if entry.start <= offset < entry.end:
                following[index].add(place[entry.target])
    owner, line = [], None
    for it in instructions:
        line = it.positions.lineno
        owner.append(at.get(line))
    seen = [0] * len(instructions)
    bits = {first: number for number, first in enumerate(sorted(statements))}
    changed = True
    while changed:
        changed = False
        for index in range(len(instructions) - 1, -1, -1):
            reached = seen[index]
            for other in following[index]:
                reached |= seen[other]
                if owner[other] is not None and owner[other] != owner[index]:
                    reached |= 1 << bits[owner[other]]
                if owner[other] is not None and other <= index:
                    reached |= 1 << bits[owner[other]]
            if reached != seen[index]:
                seen[index], changed = reached, True
    pairs = {first: 0 for first in statements}
    for index, first in enumerate(owner):
        if first is not None:
            pairs[first] |= seen[index]
    return [[first, [other for other in bits if reached >> bits[other] & 1]] for first, reached in sorted(pairs.items())]


def main():
    for path in files(int(sys.argv[1])):
        with open(path, "rb") as file:
            source = file.read()
        try:
            tree = ast.parse(source)
            code = compile(source, path, "exec")
        except (SyntaxError, ValueError):
            continue
        made = {}
        for inner in codes(code):
            made[inner.co_qualname.replace(".<locals>", ""), inner.co_firstlineno] = inner
        functions = []
        todo = [(tree, "")]
        while todo:
            node, prefix = todo.pop()
            name = prefix
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}.{node.name}".lstrip(".")
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno] + [it.lineno for it in node.decorator_list])
                inner = made.get((name, first))
                if inner is not None:
                    lines = {line for _, _, line in inner.co_lines() if line is not None}
                    mine = headers(node)
                    live = [first for first, last in sorted(mine.items()) if lines & set(range(first, last + 1))]
                    small = len(mine) <= 150
                    functions.append({
                        "name": name, "line": node.lineno, "starts": sorted(mine), "live": live,
                        "reaches": reaches(inner, {first: mine[first] for first in live}) if small else [],
                    })
            todo.extend((child, name) for child in ast.iter_child_nodes(node))
        print(json.dumps({"file": path, "functions": functions}))


main()
