"""Names as the tool gives them: a function by its bare name, a method as `Class.method`, a constructor as its class."""

import ast


class Names:
    """The functions and classes of one file."""

    def __init__(self, tree):
        self.file = ""
        self.by_node, self.by_line = {}, {}
        self._enter(tree, None)

    def _enter(self, node, owner):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self._name(child, child.name)
                self._enter(child, child.name)
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._name(child, method(owner, child.name))
                self._enter(child, None)
            else:
                self._enter(child, owner)

    def _name(self, node, name):
        self.by_node[node] = name
        # The name stands on the line of `def`; the code of a decorated function begins at its first decorator.
        for line in [node.lineno, *(one.lineno for one in node.decorator_list)]:
            self.by_line[line] = name

    def of(self, node):
        return self.by_node[node]

    def at_line(self, line):
        return self.by_line.get(line)


def method(owner, name):
    if owner is None:
        return name
    return owner if name in ("__init__", "__new__") else f"{owner}.{name}"


def qualified(name):
    """The same of Python's own name of a code object; None for one that is not charged to a function."""
    parts = name.split(".")
    while parts and parts[-1].startswith("<") and parts[-1] != "<locals>":
        # A lambda or comprehension belongs to the function around it, whatever classes are between them.
        while parts and parts[-1] != "<locals>":
            parts.pop()
        if parts:
            parts.pop()
    if not parts:
        return "<module>"
    owner = parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else None
    return method(owner, parts[-1])
