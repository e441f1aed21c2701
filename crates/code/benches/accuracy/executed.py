"""A plugin for pytest: which function of a package called which, while the package's own tests ran.

TRUTH_ROOT and TRUTH_FOLDER say where the package is, TRUTH_OUT where the answer goes: {"edges": [[file, caller, file,
callee]], "functions": [[file, name]], "inside": [[file, name]]}. `functions` is all that ran, `inside` what the package
itself called. An object's constructor is its class, also where it is inherited, unless another constructor of the same
object calls it.
"""

import dis
import functools
import json
import os
import re
import sys
import threading
from pathlib import Path

from naming import qualified

ROOT = Path(os.environ["TRUTH_ROOT"]).resolve()
PREFIX = str(ROOT / os.environ["TRUTH_FOLDER"]) + os.sep

OPTIMIZED = 0x1  # a function; the body of a class or module has not got it
RESUMED = 0x20 | 0x80 | 0x200  # generators and coroutines, which are entered again and again

known = {}
seen, edges, functions = set(), set(), set()


def place(code):
    """(file, name) of a code object of the package."""
    if code not in known:
        inside = code.co_filename.startswith(PREFIX)
        known[code] = (os.path.relpath(code.co_filename, ROOT), qualified(owner(code))) if inside else None
    return known[code]


def owner(code):
    """The body of a class runs as part of what is around the class."""
    name = code.co_qualname
    return name if code.co_flags & OPTIMIZED else f"{name}.<body>" if code.co_name != "<module>" else "<module>"


def self_of(frame):
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None


def made(frame, caller, callee):
    """The class that a constructor is called for."""
    code = frame.f_code
    if code.co_name not in ("__init__", "__new__"):
        return callee
    one = self_of(frame)
    kind = one if isinstance(one, type) else type(one)
    if caller.f_code.co_name == code.co_name and self_of(caller) is one:
        return callee
    file = home(kind)
    return (os.path.relpath(file, ROOT), kind.__qualname__.rsplit(".", 1)[-1]) if file else callee


@functools.cache
def home(kind):
    """The file of the package that a class is written in. A package may say that its classes are of the package itself,
    so a module counts only if the class is in its text."""
    said = sys.modules.get(kind.__module__)
    for module in [said, *list(sys.modules.values())]:
        file = getattr(module, "__file__", None) or ""
        if file.startswith(PREFIX) and file.endswith(".py"):
            text = Path(file).read_text(encoding="utf-8")
            if re.search(rf"^\s*class {re.escape(kind.__name__)}\b", text, re.MULTILINE):
                if module is said or getattr(module, kind.__name__, None) is kind:
                    return file
    return None


def watch(frame, event, _):
    if event != "call":
        return
    code = frame.f_code
    callee = place(code)
    if callee is None or not code.co_flags & OPTIMIZED or code.co_name.startswith("<"):
        return
    if code.co_flags & RESUMED and frame.f_lasti > first(code):
        return
    caller = frame.f_back
    pair = (caller and caller.f_code, code)
    if pair in seen and code.co_name not in ("__init__", "__new__"):
        return
    seen.add(pair)
    functions.add(callee)
    if caller is not None and (origin := place(caller.f_code)) is not None:
        edges.add((*origin, *made(frame, caller, callee)))


@functools.cache
def first(code):
    """How far a generator has come when it is entered for the first time. Being made is no event for a profiler, so
    the one that asks for its first value counts as the caller: nearly always they are the same."""
    begun = (one.offset for one in dis.get_instructions(code) if one.opname == "RESUME")
    return next(begun, 0)


def pytest_configure(config):
    threading.setprofile(watch)
    sys.setprofile(watch)


def pytest_runtest_setup(item):
    # A test of a profiler may have taken our place.
    sys.setprofile(watch)


def pytest_unconfigure(config):
    sys.setprofile(None)
    threading.setprofile(None)
    inside = sorted({(file, name) for _, _, file, name in edges})
    answer = {"edges": sorted(edges), "functions": sorted(functions), "inside": inside}
    Path(os.environ["TRUTH_OUT"]).write_text(json.dumps(answer))
