#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Scripts that are cut off, or have bytes changed: they are read or refused.

usage: torn.py RUN-CASE FOLDER [ROUNDS]

Whatever is left of a case, the script engine, the model and all rules end
with a status of their own: no signal, no word of a sanitizer, no hang.
"""
import os
import random
import subprocess
import sys
import tempfile

BYTES = b"\x00\xff\n\t\" {}=@#-+<>09zA\\\x1b"


def torn(text, chance):
    """A beginning, or the text with some bytes changed, doubled or left out."""
    if chance.random() < 0.4:
        return text[:chance.randrange(len(text))]
    out = bytearray(text)
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(out))
        kind = chance.randrange(3)
        if kind == 0:
            out[at] = chance.choice(BYTES)
        elif kind == 1:
            del out[at:at + chance.randrange(1, 40)]
        else:
            out[at:at] = out[at:at + chance.randrange(1, 40)]
        if not out:
            break
    return bytes(out)


def main():
    run_case, folder = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    chance = random.Random(1)
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        paths = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as f:
                # What it expects is no part of the script; loops are kept short.
                lines = [line for line in f.read().splitlines(True) if not line.startswith(b"#")]
            text = b"".join(b"repeat 60 i {\n" if line.startswith(b"repeat ") else line for line in lines)
            for i in range(rounds):
                paths.append(os.path.join(work, f"{i}-{name}"))
                with open(paths[-1], "wb") as f:
                    f.write(torn(text, chance))
        for path in paths:
            try:
                done = subprocess.run([run_case, "--print", path], capture_output=True, timeout=60, check=False)
                wrong = done.returncode not in (0, 1, 2) or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr
                text = done.stderr.decode(errors="replace")[-2000:]
            except subprocess.TimeoutExpired:
                wrong, text = True, "it hangs"
            if wrong:
                bad += 1
                with open(path, "rb") as f:
                    print(f"{os.path.basename(path)}: {text}\n{f.read()!r}")
    sys.exit(1 if bad else 0)


main()
