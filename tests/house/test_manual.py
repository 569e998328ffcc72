# SPDX-License-Identifier: BSD-2-Clause
"""The manual is clean and has every option that the command has, and no other."""
import glob
import os
import re
import shutil
import subprocess
import sys

TOP, SYSCULL = sys.argv[1:3]
PAGES = sorted(glob.glob(os.path.join(TOP, "man", "*.[1-8]")))
assert PAGES, "no manual pages"
bad = []


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def options_of_help(subcommand):
    """{long name: (letter, argument)} from --help, which the option table prints."""
    said = run(SYSCULL, subcommand, "--help")
    if said.returncode != 0:
        bad.append(f"syscull {subcommand} --help ended with {said.returncode}: {said.stderr.strip()}")
    options = {}
    for match in re.finditer(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?", said.stdout, re.M):
        options[match.group(2)] = (match.group(1), match.group(3))
    return options


def page(name):
    with open(os.path.join(TOP, "man", name), encoding="utf-8") as file:
        return file.read()


def check_options(subcommand):
    """The page of a subcommand has its options, and no others."""
    name = f"syscull-{subcommand}.1"
    # .It Fl o , Fl -output Ar FILE
    in_manual = {}
    for match in re.finditer(r"^\.It (?:Fl (\w) , )?Fl -([\w-]+)(?: Ar (\S+))?", page(name), re.M):
        in_manual[match.group(2)] = (match.group(1), match.group(3))
    options = options_of_help(subcommand)
    if not options:
        bad.append(f"no options in syscull {subcommand} --help")
    for option, (letter, argument) in options.items():
        if option not in in_manual:
            bad.append(f"man/{name} lacks --{option}")
        elif in_manual[option] != (letter, argument):
            bad.append(f"{subcommand} --{option}: the command has {letter, argument}, the page {in_manual[option]}")
    for option in in_manual:
        if option not in options:
            bad.append(f"man/{name} has --{option}, the command does not")
    return len(options)


subcommands = re.findall(r"^  ([a-z]+) ", run(SYSCULL, "--help").stdout, re.M)
if len(subcommands) < 2:
    bad.append("no subcommands in syscull --help")
for name in subcommands:
    if not re.search(rf"^\.It Cm {name}\b", page("syscull.1"), re.M):
        bad.append(f"man/syscull.1 lacks the subcommand {name}")
    synopsis = page("syscull.1").split(".Sh SYNOPSIS")[1].split("\n.Sh ")[0]
    if not re.search(rf"^\.(Op )?Cm (.* )?{name}\b", synopsis, re.M):
        bad.append(f"the SYNOPSIS of man/syscull.1 lacks {name}")
    for line in run(SYSCULL, name, "--help").stdout.splitlines():
        if len(line) > 80:
            bad.append(f"syscull {name} --help has {len(line)} columns: {line}")

count = 0
for name in subcommands:
    if os.path.exists(os.path.join(TOP, "man", f"syscull-{name}.1")) and name not in ("doctor", "explain"):
        count += check_options(name)

if shutil.which("mandoc"):
    lint = run("mandoc", "-T", "lint", "-W", "style", *PAGES)
    # What manuals are installed here is not ours.
    foreign = ("mandoc.db", "referenced manual not found")
    bad += [line for line in (lint.stdout + lint.stderr).splitlines() if line and not any(f in line for f in foreign)]
elif not bad:
    print("no mandoc here: the pages are not checked", file=sys.stderr)
    sys.exit(77)
print("\n".join(bad) or f"{count} options, {len(PAGES)} pages")
sys.exit(1 if bad else 0)
