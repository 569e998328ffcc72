#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The library's frame: what holds for every part in lib/parts.tbl.

usage: frame.py CASE           (a function case_CASE below)

SYSCULL_TOP is the source tree, LIBSYSCULL_SO and LIBSYSCULL_A what was built.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ["SYSCULL_TOP"]
STRICT = ["-Wall", "-Wextra", "-Werror"]
# What a part's plain tests are made of besides test-PART.c and the part; tests/lib.
TESTS = {
    "xattr": (["test-xattr.c", "fake-kernel.c"], ["-Wl,--wrap=syscall,--wrap=clock_gettime,--wrap=realloc"]),
    "mark": (["costs-mark.c"], []),
    "lines": (["lines/test-lines.c", "lines/fake-reads.c"], ["-Wl,--wrap=syscall,--wrap=getauxval"]),
    "proc": (["lines/test-proc.c", "lines/fake-reads.c"], ["-Wl,--wrap=syscall,--wrap=getauxval"]),
    "fds": (["fds/test-fds.c"], []),
    "spawn": (["fds/test-spawn.c"], ["-pthread"]),
}


class Skip(Exception):
    pass


def path(*words):
    return os.path.join(TOP, *words)


def run(*argv, **more):
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **more)
    assert done.returncode == 0, f"{' '.join(map(str, argv))} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def read(*words):
    with open(path(*words), encoding="utf-8") as file:
        return file.read()


def parts():
    for line in read("lib", "parts.tbl").split("\n"):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0], words[1:]


def have(*compilers):
    return [compiler for compiler in compilers if shutil.which(compiler)]


def sources(part=None):
    """Of all parts, or of one and those that its header includes."""
    wanted = part and [part, *re.findall(r'#include "syscull/(\w+)\.h"', read("include", "syscull", part + ".h"))]
    return [path("lib", name) for known, names in parts() for name in names if part is None or known in wanted]


def exported():
    listed = read("lib", "libsyscull.map").split("global:")[1].split("local:")[0]
    return set(re.findall(r"(syscull_\w+);", listed))


def case_headers(folder):
    """Each header compiles alone, in each language, with each compiler."""
    kinds = [("c99", ".c", have("gcc", "clang", "musl-gcc", "aarch64-linux-gnu-gcc")), ("c++11", ".cc", have("g++", "clang++"))]
    done = 0
    for part, _ in parts():
        for standard, suffix, compilers in kinds:
            source = os.path.join(folder, part + suffix)
            with open(source, "w", encoding="ascii") as file:
                # Twice, as programs do.
                file.write(f"#include <syscull/{part}.h>\n#include <syscull/{part}.h>\nint answer(void);\n"
                           "int answer(void)\n{\n\treturn 0;\n}\n")
            for compiler in compilers:
                run(compiler, f"-std={standard}", "-pedantic", *STRICT, "-I", path("include"), "-c", source, "-o",
                    os.path.join(folder, "out.o"))
                done += 1
    assert done >= 2, "no compilers"
    print(f"{done} compilations")


def case_symbols(_):
    """The shared library exports what the map lists, the headers declare, and nothing else."""
    listed = exported()
    seen = set(re.findall(r"^\S+ [A-Z] (\S+?)@@SYSCULL_", run("nm", "-D", "--defined-only", os.environ["LIBSYSCULL_SO"]), re.M))
    every = re.findall(r"^\S+ ([TDBRVW]) (\S+)", run("nm", "-D", "--defined-only", os.environ["LIBSYSCULL_SO"]), re.M)
    assert seen == listed, f"exported {sorted(seen)}, the map lists {sorted(listed)}"
    assert {name.split("@")[0] for _, name in every} == listed, every
    declared = set()
    for part, _ in parts():
        text = re.sub(r"/\*.*?\*/", "", read("include", "syscull", part + ".h"), flags=re.S)
        declared |= set(re.findall(r"\b(syscull_\w+)\s*\(", re.sub(r"static inline[^{]*", "", text)))
    assert declared == listed, f"declared {sorted(declared ^ listed)} differs from the map"
    for name in listed:
        assert name.startswith("syscull_") and not name.startswith("syscull__"), name


def case_static(folder):
    """The static library's names are all ours; it has no state, no constructors, and needs a libc alone."""
    objects = []
    for source in sources():
        out = os.path.join(folder, os.path.basename(source) + ".o")
        run("gcc", "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-fPIC", "-I", path("include"), "-iquote", path("lib"), "-c", source, "-o", out)
        objects.append(out)
    for line in run("nm", os.environ["LIBSYSCULL_A"]).split("\n"):
        words = line.split()
        if len(words) == 3 and words[1] in "TDBRV" and not words[2].startswith(("syscull_", "__asan", "__odr_asan")):
            raise AssertionError(f"the static library defines {words[2]}")
    # .data.rel.ro is written by the loader alone.
    for line in run("objdump", "-t", *objects).split("\n"):
        state = re.search(r"\sO (\.data|\.bss|\.tbss|\.tdata|\*COM\*)\s+\S+ (\S+)$", line)
        assert not state, f"state that no caller owns: {state.group(2)}"
    assert ".init_array" not in run("objdump", "-h", *objects)
    print(run("size", *objects))


def build_tests(folder, compiler, part, files, *flags):
    """The plain tests of a part, linked with its sources or something in their place."""
    tests, link = TESTS[part]
    program = os.path.join(folder, f"test-{part}")
    run(compiler, "-std=gnu11", "-O2", "-D_GNU_SOURCE", *STRICT, *flags, "-I", path("include"), "-iquote", path("lib"), "-iquote",
        path("tests", "lib"), *(path("tests", "lib", name) for name in tests), *files, "-o", program, *link)
    return program


def pairs(folder, part):
    """The pair of a part, and those that its header includes."""
    needed = re.findall(r'#include "syscull-(\w+)\.h"', open(os.path.join(folder, f"syscull-{part}.h"), encoding="utf-8").read())
    return [os.path.join(folder, f"syscull-{name}.c") for name in (part, *needed)]


def case_amalgamation(folder):
    """Each pair of files compiles alone as C99, and passes the part's tests."""
    print(run(path("tools", "amalgamate"), folder), end="")
    for part, _ in parts():
        for compiler in have("gcc", "clang", "musl-gcc"):
            # Alone: only what is in the folder is to be found.
            run(compiler, "-std=c99", *STRICT, "-O2", "-c", f"syscull-{part}.c", "-o", f"{part}.o", cwd=folder)
            assert os.path.exists(os.path.join(folder, f"syscull-{part}.h"))
            if part in TESTS and compiler == "gcc":
                print(run(build_tests(folder, compiler, part, pairs(folder, part))), end="")


def case_musl(folder):
    """The library and its plain tests, static, with musl."""
    if not have("musl-gcc"):
        raise Skip("no musl-gcc here")
    for part, _ in parts():
        for source in sources(part):
            run("musl-gcc", "-std=gnu11", "-O2", "-D_GNU_SOURCE", *STRICT, "-I", path("include"), "-iquote", path("lib"), "-c", source,
                "-o", os.path.join(folder, "out.o"))
        if part in TESTS:
            print(run(build_tests(folder, "musl-gcc", part, sources(part), "-static")), end="")


def case_aarch64(folder):
    """The same for aarch64; run where qemu is."""
    if not have("aarch64-linux-gnu-gcc"):
        raise Skip("no aarch64-linux-gnu-gcc here")
    emulator = shutil.which("qemu-aarch64-static")
    for part, _ in parts():
        for source in sources(part):
            run("aarch64-linux-gnu-gcc", "-std=gnu11", "-O2", "-D_GNU_SOURCE", *STRICT, "-I", path("include"), "-iquote", path("lib"), "-c",
                source, "-o", os.path.join(folder, "out.o"))
        if part in TESTS:
            program = build_tests(folder, "aarch64-linux-gnu-gcc", part, sources(part), "-static")
            if emulator:
                print(run(emulator, program), end="")
    if not emulator:
        raise Skip("compiled; no qemu-aarch64-static here to run it")


def case_disabled(folder):
    """Built without attributes, everything is answered as unsupported."""
    for compiler in have("gcc", "clang", "musl-gcc"):
        program = os.path.join(folder, "disabled")
        run(compiler, "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-DSYSCULL_NO_XATTR", *STRICT, "-I", path("include"), "-iquote", path("lib"),
            "-iquote", path("tests", "lib"), path("tests", "lib", "xattr-disabled.c"), *sources("xattr"), "-o", program)
        print(run(program), end="")


def case_threads(folder):
    """The shareable memo under the thread sanitizer: threads ask, learn and drop; a child is forked meanwhile."""
    compiler = next(iter(have("gcc", "clang")))
    program = os.path.join(folder, "threads")
    done = subprocess.run([compiler, "-std=gnu11", "-O1", "-g", "-D_GNU_SOURCE", "-fsanitize=thread", *STRICT, "-I", path("include"),
                           "-iquote", path("lib"), "-iquote", path("tests", "lib"), path("tests", "lib", "xattr-threads.c"),
                           *sources("xattr"), "-o", program, "-lpthread"], capture_output=True, text=True, check=False)
    if done.returncode != 0 and "tsan" in done.stderr:
        raise Skip("no thread sanitizer here")
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program], capture_output=True, text=True, check=False, env=dict(os.environ, TSAN_OPTIONS="exitcode=66"))
    if "unexpected memory mapping" in done.stderr:
        raise Skip("the thread sanitizer does not run on this kernel")
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout, end="")


def case_abi(folder):
    """What a program sees of the library stays as it was: sizes, offsets, symbols.

    tests/lib/abi holds the baseline.  Fields may be added at the end of structs that begin with their size, in the commit
    that says so: abidw below writes the new baseline.
    """
    if not have("abidiff", "abidw") or os.uname().machine != "x86_64":
        raise Skip("no abidiff here, or not x86-64; test-abi checks sizes and offsets")
    library = os.path.join(folder, "libsyscull.so.0")
    run("gcc", "-std=gnu11", "-O0", "-g", "-gdwarf-4", "-D_GNU_SOURCE", "-fPIC", "-shared", "-I", path("include"), "-iquote",
        path("lib"), *sources(), f"-Wl,--version-script,{path('lib', 'libsyscull.map')}", "-Wl,-soname,libsyscull.so.0", "-o", library)
    baseline = path("tests", "lib", "abi", "libsyscull-x86_64.abi")
    if os.environ.get("SYSCULL_ABI_WRITE"):
        run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--headers-dir", path("include"), "--out-file", baseline,
            library)
        # Where it was made is nobody's business.
        with open(baseline, encoding="utf-8") as file:
            text = file.read()
        with open(baseline, "w", encoding="utf-8") as file:
            file.write(text.replace(path() + os.sep, ""))
    # New functions are welcome; they are listed in the map, which case_symbols reads.
    run("abidiff", "--no-added-syms", "--headers-dir2", path("include"), baseline, library)


def case_pkgconfig(folder):
    """A program finds the library by pkg-config, and runs with the shared one."""
    if not have("pkg-config"):
        raise Skip("no pkg-config here")
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(os.environ["SYSCULL_BUILD"], "meson-uninstalled"))
    flags = run("pkg-config", "--cflags", "--libs", "libsyscull", env=env).split()
    assert "-lsyscull" in " ".join(flags) or "libsyscull" in " ".join(flags), flags
    source, program = os.path.join(folder, "user.c"), os.path.join(folder, "user")
    with open(source, "w", encoding="ascii") as file:
        file.write("#include <syscull/mark.h>\n#include <syscull/xattr.h>\nint main(void)\n{\n"
                   "\treturn syscull_mark(\"x\") || !syscull_xattr_name(1);\n}\n")
    run("gcc", source, "-o", program, *flags)
    library = os.path.dirname(os.environ["LIBSYSCULL_SO"])
    run(program, env=dict(os.environ, LD_LIBRARY_PATH=library))
    assert "libsyscull.so.0" in run("objdump", "-p", program)
    needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", os.environ["LIBSYSCULL_SO"])))
    assert all(name.startswith(("libc.", "libasan", "libubsan", "ld-linux", "libgcc_s")) for name in needed), needed


def main():
    name = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="syscull-frame-") as folder:
        try:
            globals()["case_" + name](folder)
        except Skip as why:
            print(f"{name}: {why}", file=sys.stderr)
            sys.exit(77)


main()
