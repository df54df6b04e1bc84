#!/usr/bin/env python3
"""Stands for cargo where a wheel is made of a binary that is built already.

The features of a package alone and those of a whole workspace differ, so that cargo would compile all of
our crates once more for the same program. `rustc` is answered with the artifact that $BUILT_BINARY
names; everything else is the business of $REAL_CARGO.
"""

import json
import os
import subprocess
import sys

PROFILE = {
    "opt_level": "0",
    "debuginfo": 0,
    "debug_assertions": True,
    "overflow_checks": True,
    "test": False,
}


def main():
    cargo, binary, words = os.environ["REAL_CARGO"], os.environ["BUILT_BINARY"], sys.argv[1:]
    if words[:1] != ["rustc"]:
        os.execvp(cargo, [cargo, *words])
    manifest = words[words.index("--manifest-path") + 1]
    wanted = words[words.index("--bin") + 1]
    ask = [cargo, "metadata", "--format-version", "1", "--no-deps", "--offline", "--manifest-path", manifest]
    packages = json.loads(subprocess.check_output(ask))["packages"]
    found = [(p, t) for p in packages for t in p["targets"] if t["name"] == wanted and t["kind"] == ["bin"]]
    [(package, target)] = found
    artifact = {
        "reason": "compiler-artifact",
        "package_id": package["id"],
        "manifest_path": package["manifest_path"],
        "target": target,
        "profile": PROFILE,
        "features": [],
        "filenames": [binary],
        "executable": binary,
        "fresh": True,
    }
    print(json.dumps(artifact))
    print(json.dumps({"reason": "build-finished", "success": True}))


main()
