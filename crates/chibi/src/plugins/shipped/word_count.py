#!/usr/bin/env -S uv run --quiet --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
#
# An example of a plugin: a tool that counts words, and a hook that tells the model the date.
# To use it: rename it from word_count.py.disabled to word_count.py, then `chibi --plugin-check word_count.py`.
# Without uv: make the first line `#!/usr/bin/env python3`; this file needs nothing but Python itself.

import datetime
import json
import os
import sys


def arguments():
    """What the model passed. Above 100 KB it comes in a file, since a variable cannot be that long."""
    path = os.environ.get("CHIBI_TOOL_ARGS_FILE")
    if path:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    return json.loads(os.environ.get("CHIBI_TOOL_ARGS", "{}"))


# chibi asks once, and again when this file changes. Print one object, or a list of them for several tools.
if len(sys.argv) > 1 and sys.argv[1] == "--schema":
    print(json.dumps({
        "name": "word_count",
        "description": "Count the words of a text.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text to count"}},
            "required": ["text"],
        },
        # Optional. "guard": true would make chibi refuse what a failing pre_ hook of this plugin should have judged;
        # "protocol": "stdin" would bring arguments and hook data on standard input instead.
        "hooks": ["post_system_prompt"],
    }))
    sys.exit(0)

# A hook: CHIBI_HOOK is its name, CHIBI_HOOK_DATA what it is about. The answer is a JSON object, or nothing.
if os.environ.get("CHIBI_HOOK"):
    today = datetime.date.today().isoformat()
    print(json.dumps({"inject": f"Today is {today}."}))
    sys.exit(0)

# A call. What is printed is the result; an exit status other than 0 tells the model that it failed.
# Standard input and standard error are the person's: ask and report there.
print(f"{len(arguments()['text'].split())} words")
