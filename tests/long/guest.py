# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command on another kernel, in a virtual machine that has this
machine's files: read by it, never written, since all that it writes goes to its
memory.  qemu emulates where there is no /dev/kvm, which takes ten times longer.
"""
import glob
import os
import re
import shlex
import shutil
import stat
import subprocess

import fetch

# What is needed to come by the files, when it is not built into the kernel.
MODULES = ("virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "fscache", "netfs",
           "9pnet", "9pnet_virtio", "9p", "overlay")
HELP = re.compile(rb"^flags.* (vmx|svm) ", re.M)
END = "guest ended with status "
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /dev /host /rw /new
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
for round in 1 2 3 4 5 6; do
	for module in /modules/*.ko; do
		/bin/busybox insmod "$module" 2>/dev/null
	done
done
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host &&
	/bin/busybox mount -t tmpfs -o size=70% rw /rw && /bin/busybox mkdir /rw/upper /rw/work &&
	/bin/busybox mount -t overlay -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work root /new ||
	/bin/busybox poweroff -f
/bin/busybox cp /run-in-guest /new/run-in-guest
/bin/busybox umount /proc
exec /bin/busybox switch_root /new /bin/sh /run-in-guest
"""
RUN = """mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tracefs tracefs /sys/kernel/tracing
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
for folder in /dev/shm /run /var/tmp; do
	mount -t tmpfs tmpfs $folder
done
mkdir -p /run/home /run/tmp
chmod 1777 /run/tmp
ln -sf /proc/self/fd /dev/fd
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/home TMPDIR=/run/tmp LC_ALL=C.UTF-8
ip link set lo up 2>/dev/null
hostname guest
cd {folder} || exit
setsid -w {command} </dev/null
echo "{end}$?"
sync
echo o >/proc/sysrq-trigger
sleep 60
"""


def accelerated():
    """A /dev/kvm without the processor's help is no use."""
    return os.access("/dev/kvm", os.R_OK | os.W_OK) and bool(HELP.search(contents("/proc/cpuinfo")))


def newc(entries):
    """The bytes of a cpio archive of [(name, mode, bytes)]."""
    out = bytearray()
    for number, (name, mode, data) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        path = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        out += b"070701" + b"".join(b"%08X" % field for field in fields) + path
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def module(top, name):
    """A module's bytes; None when the kernel has it built in, or not at all."""
    for path in glob.glob(f"{top}/lib/modules/*/kernel/**/*.ko", recursive=True):
        if os.path.basename(path).replace("-", "_") == name + ".ko":
            return contents(path)
    return None


def initramfs(kernel, busybox, script):
    entries = [(folder, stat.S_IFDIR | 0o755, b"") for folder in ("bin", "dev", "modules")]
    entries += [("bin/busybox", stat.S_IFREG | 0o755, contents(busybox)), ("init", stat.S_IFREG | 0o755, INIT.encode()),
                ("run-in-guest", stat.S_IFREG | 0o755, script.encode())]
    found = ((f"modules/{at:02}-{name}.ko", module(kernel, name)) for at, name in enumerate(MODULES))
    entries += [(name, stat.S_IFREG | 0o644, data) for name, data in found if data is not None]
    return newc(entries)


def run(kernel, busybox, folder, argv, log, seconds):
    """Runs `argv` in `folder`: (status or None when it did not end, its output).

    `kernel` is the folder of an unpacked package.  The console goes to `log`.
    """
    images = glob.glob(f"{kernel}/boot/vmlinuz-*")
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        raise fetch.CannotFetch("no qemu-system-x86_64 here (tools/deps long installs it)")
    if not images:
        raise fetch.CannotFetch(f"no kernel in {kernel}")
    script = RUN.format(folder=shlex.quote(folder), command=shlex.join(argv), end=END)
    archive = log + ".initramfs"
    with open(archive, "wb") as file:
        file.write(initramfs(kernel, busybox, script))
    command = [qemu, "-kernel", images[0], "-initrd", archive, "-append", "console=ttyS0 panic=-1 quiet",
               "-smp", "2", "-m", "1536", "-display", "none", "-no-reboot", "-nic", "none",
               "-chardev", f"file,id=console,path={log}", "-serial", "chardev:console", "-monitor", "none",
               *(["-accel", "kvm", "-cpu", "host"] if accelerated() else ["-accel", "tcg", "-cpu", "max"]),
               "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False,
                       timeout=seconds if accelerated() else 10 * seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        os.unlink(archive)
    with open(log, encoding="utf-8", errors="replace") as file:
        output = file.read().replace("\r\n", "\n")
    text, found, status = output.rpartition(END)
    return (int(status.split()[0]) if found and status.split() else None, text if found else output)
