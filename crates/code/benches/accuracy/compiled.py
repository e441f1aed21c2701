"""What rustc makes of a crate: every call that is left in its intermediate code, macros and operators included.

usage: CARGO_TARGET_DIR=… compiled.py ROOT FOLDER > truth.json

ROOT is the crate, FOLDER its sources. A row is [file, 0, caller, file, callee, how]: "call" for
a call, "use" for a function that is passed on and for a method that a trait only declares. Functions that are written by a derive are left out at both ends, and so
is what was not compiled: tests, and code for other systems. `functions` are those that were. `macros` are gone before there
is anything to see: who uses them is not told.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

IMPL = re.compile(r"<impl at ([^:>]+):(\d+):(\d+): \d+:\d+>")
CALL = re.compile(r"^\s+(?:_\d+|\(.*?\)) = (.+) -> (?:\[return|unwind)")
PASSED = re.compile(r"\{([\w:<>&' ]+)\}")


def without_arguments(path):
    """A path without what stands in its angle brackets, except where it begins with them."""
    out, depth = "", 0
    for at, one in enumerate(path):
        if one == "<":
            depth += 1
        if depth == 0:
            out += one
        if one == ">" and path[at - 1] != "-":
            depth -= 1
    return out.replace("::::", "::").strip(":")


def last(path):
    return without_arguments(path).split("::")[-1].strip(" &'")


class Crate:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.methods, self.functions, self.known, self.left_open = {}, {}, set(), set()
        self.texts = {file: file.read_text() for file in sorted((root / folder).rglob("*.rs"))}

    def traits(self):
        """Methods that are declared and left to others: no code of theirs is compiled."""
        for file, text in self.texts.items():
            for found in re.finditer(r"\btrait (\w+)[^{;]*\{", text):
                end = text.find("\n}", found.end())
                for method in re.finditer(r"\bfn (\w+)", text[found.end() : end]):
                    one = (file.relative_to(self.root).as_posix(), f"{found[1]}.{method[1]}")
                    if one[1] not in self.methods:
                        self.methods[one[1]] = {one}
                        self.left_open.add(one)

    def macros(self):
        found = ((file, re.findall(r"\bmacro_rules! (\w+)", text)) for file, text in self.texts.items())
        return {(file.relative_to(self.root).as_posix(), name) for file, names in found for name in names}

    def is_module(self, name):
        if name == self.root.name or name == "crate":
            return True
        return any(file.stem == name or re.search(rf"\bmod {name}\b", text) for file, text in self.texts.items())

    def module(self, parts):
        """The file of a path of modules, of which rustc leaves out the first where the rest says it."""
        for file in self.texts:
            name = file.parent.name if file.name == "mod.rs" else file.stem
            if parts and name == parts[-1] and file.name not in ("lib.rs", "main.rs"):
                return file.relative_to(self.root).as_posix()
        while True:
            base = self.root / self.folder / "/".join(parts)
            for file in (base.with_suffix(".rs"), base / "mod.rs") if parts else (base / "lib.rs",):
                if file.exists():
                    return file.relative_to(self.root).as_posix()
            parts = parts[:-1]

    def only_file(self, name):
        """The file that a function without a path is in: rustc leaves paths out where there is but one of the name."""
        at_left = [file for file, text in self.texts.items() if re.search(rf"^(pub\S* |const |async |unsafe )*fn {name}\b", text, re.M)]
        found = at_left or [file for file, text in self.texts.items() if re.search(rf"\bfn {name}\b", text)]
        return (found or list(self.texts))[0].relative_to(self.root).as_posix()

    def owner(self, file, line, column):
        """The type that an `impl` is for; nothing for one that a derive wrote."""
        lines = (self.root / file).read_text().split("\n")[line - 1 :]
        text = " ".join(lines)[column - 1 :].split("{")[0]
        if not re.match(r"(unsafe )?impl\b", text):
            return None
        text = text.split(" where ")[0]
        text = re.sub(r"^(unsafe )?impl\s*", "", text)
        if text.startswith("<"):
            depth = 0
            for at, one in enumerate(text):
                depth += (one == "<") - (one == ">" and text[at - 1] != "-")
                if depth == 0:
                    text = text[at + 1 :]
                    break
        return last(re.split(r"\bfor\b(?! *<)", text)[-1].strip())

    def name(self, header):
        """File and name of what a header declares."""
        path = re.sub(r"::\{closure#\d+\}.*|::\{constant#\d+\}.*", "", header)
        found = IMPL.search(path)
        if found:
            file, line, column = found[1], int(found[2]), int(found[3])
            owner = self.owner(file, line, column)
            inner = path[found.end() :].strip(":").split("::")
            # A function inside of a method goes by its own name.
            name = inner[0] if len(inner) == 1 else inner[-1]
            if owner is None:
                return None
            return file, f"{owner}.{name}" if len(inner) == 1 else name
        parts = without_arguments(path).split("::")
        # A function inside of another has that one's name before its own.
        file = self.module(parts[:-1]) if len(parts) > 1 and self.is_module(parts[0]) else self.only_file(parts[0])
        for of_trait, text in self.texts.items():
            if len(parts) > 1 and re.search(rf"\btrait {re.escape(parts[-2])}\b", text):
                return of_trait.relative_to(self.root).as_posix(), f"{parts[-2]}.{parts[-1]}"
        return file, parts[-1]

    def declare(self, header):
        one = self.name(header)
        if one is not None and "{closure" not in header:
            self.known.add(one)
            where = self.methods if "." in one[1] else self.functions
            where.setdefault(one[1], set()).add(one)
        return one

    def callee(self, text):
        """What a called path is, if it is one of ours and there is but one; modules before it tell which of several."""
        text, modules = text.strip(), []
        trait = re.match(r"<(.+) as (.+)>::(\w+)", text)
        if trait:
            of, trait, method = last(trait[1]), last(trait[2]), trait[3]
            # What is left open has the name of no type.
            is_type = any(re.search(rf"\b(struct|enum|union|type|trait) {re.escape(of)}\b", text) for text in self.texts.values())
            wanted = [f"{of}.{method}", f"{trait}.{method}"] if is_type else [f"{trait}.{method}"]
        else:
            parts = without_arguments(text).split("::")
            modules = parts[:-2]
            wanted = [".".join(parts[-2:])] if len(parts) > 1 else []
            of_type = len(parts) > 1 and parts[-2][:1].isupper()
            if re.fullmatch(r"[\w:]+", without_arguments(text)) and not of_type:
                wanted.append(parts[-1])
                modules = parts[:-1]
        for name in wanted:
            found = self.methods.get(name) or self.functions.get(name) or set()
            if len(found) > 1:
                found = {one for one in found if modules and modules[-1] in one[0]}
            if modules and not self.is_module(modules[0]):
                # A type of that name that another crate has.
                continue
            if len(found) == 1:
                return next(iter(found))
        return None


def arguments_cut(text):
    """The called path: all before the parenthesis that the arguments are in."""
    depth = 0
    for at, one in enumerate(text):
        if one in "<{[":
            depth += 1
        elif one in ">}]" and text[at - 1] != "-":
            depth -= 1
        elif one == "(" and depth == 0:
            return text[:at]
    return ""


def main(root, folder):
    root = Path(root).resolve()
    build = ["cargo", "rustc", "--quiet", "--lib", "--", "--emit=mir"]
    subprocess.run(build, cwd=root, check=True, stdout=sys.stderr)
    name = re.match(r"[a-z_-]+[a-z]", root.name)[0].replace("-", "_")
    built = Path(os.environ["CARGO_TARGET_DIR"]).glob(f"debug/deps/{name}-*.mir")
    newest = max(built, key=lambda file: file.stat().st_mtime)
    lines = newest.read_text().split("\n")
    crate = Crate(root, folder)
    headers = {at: line[3:].split("(_")[0].split("() ->")[0] for at, line in enumerate(lines) if line.startswith("fn ")}
    names = {at: crate.declare(header) for at, header in headers.items()}
    crate.traits()
    rows, caller = set(), None
    for at, line in enumerate(lines):
        if line and not line.startswith((" ", "}")):
            caller = names.get(at)
        found = CALL.match(line)
        if caller is None or found is None:
            continue
        path = arguments_cut(found[1])
        for how, text in [("call", path), *(("use", one) for one in PASSED.findall(path))]:
            to = crate.callee(text)
            if to is not None:
                how = "use" if to in crate.left_open else how
                rows.add((*(caller[0], 0, caller[1]), *to, how))
    told = {"edges": sorted(rows), "functions": sorted(crate.known), "macros": sorted(crate.macros())}
    json.dump(told, sys.stdout)


main(*sys.argv[1:])
