# SPDX-License-Identifier: BSD-2-Clause
"""usage: compare_proc.py DUMP-PROC
The typed readers against Python on frozen copies of every process's files, and
against ps, pmap -X and findmnt on live ones, where these can agree."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

DUMP = sys.argv[1]
PAGE = os.sysconf("SC_PAGESIZE")
SMAPS = ["Size", "KernelPageSize", "MMUPageSize", "Rss", "Pss", "Pss_Dirty", "Pss_Anon", "Pss_File", "Pss_Shmem", "Shared_Clean",
         "Shared_Dirty", "Private_Clean", "Private_Dirty", "Referenced", "Anonymous", "KSM", "LazyFree", "AnonHugePages",
         "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb", "Private_Hugetlb", "Swap", "SwapPss", "Locked", "THPeligible",
         "ProtectionKey"]
STATUS = ["Umask", "State", "Tgid", "Ngid", "Pid", "PPid", "TracerPid", "Uid", None, None, None, "Gid", None, None, None, "FDSize",
          "Kthread", "VmPeak", "VmSize", "VmLck", "VmPin", "VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem", "VmData", "VmStk",
          "VmExe", "VmLib", "VmPTE", "VmSwap", "HugetlbPages", "CoreDumping", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn",
          "SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "voluntary_ctxt_switches",
          "nonvoluntary_ctxt_switches"]
HEX = re.compile("Sig(Pnd|Blk|Ign|Cgt)|ShdPnd|Cap...$")


def text(value):
    return "=" + value.hex()


def value_of(name, value):
    """What the library should make of one field."""
    words = value.split()
    if len(words) == 2 and words[1] == "kB":
        return int(words[0]) * 1024
    if name == "State":
        return ord(words[0])
    return int(words[0], 16 if HEX.match(name) else 8 if name == "Umask" else 10)


def fields_of(lines, names):
    seen = {}
    for line in lines:
        name, value = line.split(":", 1)
        if name in names and names.index(name) not in seen:
            place = names.index(name)
            if name in ("Uid", "Gid"):
                seen.update({place + i: int(word) for i, word in enumerate(value.split())})
            else:
                seen[place] = value_of(name, value)
    return [f"{place}:{number}" for place, number in sorted(seen.items())]


def map_of(line):
    span, flags, offset, device, inode, *path = line.split(b" ", 5)
    start, end = span.split(b"-")
    major, minor = device.split(b":")
    bits = sum(1 << i for i, letter in enumerate(b"rwxs") if flags[i] == letter)
    return [str(n) for n in (int(start, 16), int(end, 16), bits, int(offset, 16), int(major, 16), int(minor, 16), int(inode))] + \
        [text(path[0].lstrip(b" ") if path else b"")]


def expect_maps(data):
    return [map_of(line) for line in data.splitlines()]


def expect_smaps(data):
    records = re.split(rb"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", data)[1:]
    rows = []
    for record in records:
        head, *lines = record.decode("latin-1").splitlines()
        flags = [line for line in lines if line.startswith("VmFlags:")]
        rows.append(map_of(head.encode("latin-1")) + [text(flags[0][9:].encode() if flags else b"")] + fields_of(lines, SMAPS))
    return rows


def expect_smaps_rollup(data):
    return [fields_of(data.decode("latin-1").splitlines()[1:], SMAPS)]


def unescape(word):
    return re.sub(rb"\\([0-3][0-7]{2})", lambda m: bytes([int(m.group(1), 8)]), word)


def expect_mountinfo(data):
    rows = []
    for line in data.splitlines():
        left, right = line.split(b" - ", 1)
        mount, parent, device, root, point, options, *optional = left.split(b" ")
        kind, source, more = right.split(b" ", 2)
        major, minor = device.split(b":")
        peers = dict(word.split(b":") for word in optional if b":" in word)
        rows.append([word.decode() for word in (mount, parent, major, minor, peers.get(b"shared", b"0"), peers.get(b"master", b"0"))] +
                    [text(unescape(word)) for word in (root, point, options, kind, source, more)])
    return rows


def expect_cgroup(data):
    return [[line.split(b":")[0].decode(), *(text(word) for word in line.split(b":", 2)[1:])] for line in data.splitlines()]


def expect_stat(data):
    pid, rest = data.split(b" (", 1)
    comm, rest = rest.rsplit(b") ", 1)
    return [[text(comm), pid.decode(), *(str(int(word) % 2**64) for word in rest.split()[1:])]]


def expect_statm(data):
    numbers = [int(word) * PAGE for word in data.split()]
    return [[str(numbers[i]) for i in (0, 1, 2, 3, 5)]]


def expect_status(data):
    lines = data.decode("latin-1").splitlines()
    return [[text(lines[0].split("\t", 1)[1].encode("latin-1")), *fields_of(lines, STATUS)]]


def expect_strings(data):
    return [[text(part)] for part in (data[:-1] if data.endswith(b"\0") else data).split(b"\0")] if data else []


EXPECT = {"maps": expect_maps, "smaps": expect_smaps, "smaps_rollup": expect_smaps_rollup, "mountinfo": expect_mountinfo,
          "cgroup": expect_cgroup, "stat": expect_stat, "statm": expect_statm, "status": expect_status,
          "cmdline": expect_strings, "environ": expect_strings}


def dump(folder, name):
    run = subprocess.run([DUMP, folder, name], capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{folder}/{name}: {run.stderr}"
    return [line.split() for line in run.stdout.splitlines()]


def frozen():
    compared = {name: 0 for name in EXPECT}
    processes = sorted((int(name) for name in os.listdir("/proc") if name.isdigit()))
    for pid in [os.getpid(), *processes[:15], *processes[-45:]]:
        with tempfile.TemporaryDirectory(prefix="compare-proc-") as folder:
            for name, expect in EXPECT.items():
                try:
                    with open(f"/proc/{pid}/{name}", "rb") as file:
                        data = file.read()
                except OSError:
                    continue
                if not data:
                    continue
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
                mine, theirs = dump(folder, name), expect(data)
                assert mine == theirs, (pid, name, next(((a, b) for a, b in zip(mine, theirs) if a != b), (len(mine), len(theirs))))
                compared[name] += 1
    # Of ourselves at least everything can be read.
    assert all(compared.values()), compared
    return compared


def live():
    """Of a process that stands still."""
    done = []
    child = subprocess.Popen([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"])
    os.waitpid(child.pid, os.WUNTRACED)
    folder = f"/proc/{child.pid}"
    try:
        status = dict(word.split(":") for word in dump(folder, "status")[0][1:])
        if shutil.which("ps"):
            told = subprocess.run(["ps", "-o", "ppid=,rss=,vsz=,nlwp=,uid=", "-p", str(child.pid)], capture_output=True, text=True,
                                  check=True).stdout.split()
            ours = [status[str(STATUS.index("PPid"))], int(status[str(STATUS.index("VmRSS"))]) // 1024,
                    int(status[str(STATUS.index("VmSize"))]) // 1024, status[str(STATUS.index("Threads"))],
                    status[str(STATUS.index("Uid") + 1)]]
            assert told == [str(word) for word in ours], (told, ours)
            done.append("ps")
        if shutil.which("pmap"):
            told = subprocess.run(["pmap", "-X", str(child.pid)], capture_output=True, text=True, check=True).stdout.splitlines()
            head = told[1].split()
            rows = [line.split() for line in told[2:] if re.match(r"\s*[0-9a-f]{6,} ", line)]
            smaps = dump(folder, "smaps")
            assert len(rows) == len(smaps), (len(rows), len(smaps))
            for row, record in zip(rows, smaps):
                numbers = dict(word.split(":") for word in record if ":" in word)
                assert int(row[0], 16) == int(record[0])
                # Pss is left out: it changes with every other process that maps the same library.
                for name in ("Size", "Rss", "Swap"):
                    assert int(row[head.index(name)]) * 1024 == int(numbers[str(SMAPS.index(name))]), (name, row, record)
            done.append("pmap -X")
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    if shutil.which("findmnt"):
        told = subprocess.run(["findmnt", "-n", "-r", "-o", "TARGET,FSTYPE"], capture_output=True, text=True,
                              check=False).stdout.splitlines()
        # findmnt escapes as \xNN what a terminal should not see.
        theirs = sorted((re.sub(r"\\x(..)", lambda m: chr(int(m.group(1), 16)), line.split(" ")[0]), line.split(" ")[1])
                        for line in told)
        ours = sorted((bytes.fromhex(row[7][1:]).decode("latin-1"), bytes.fromhex(row[9][1:]).decode())
                      for row in dump("/proc/self", "mountinfo"))
        if theirs:
            assert theirs == ours, (theirs, ours)
            done.append("findmnt")
    return done


counts = frozen()
tools = live()
print("frozen:", ", ".join(f"{count} {name}" for name, count in counts.items()))
print("live:", ", ".join(tools) or "none of the tools is here")
