#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Servers under a small load on a unix socket: those of Debian are clean in every
rule, those that waste are found; with -p the same as when we started them.

usage: servers.py NAME...

NAME is redis, nginx, memcached, or what live-server (SYSCULL_SERVER) does.
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import live

ENGINE = os.environ["SYSCULL_ENGINE"]
CLIENTS, TIMES = 4, 100

# (rule, tier) that must be found, and what else may be; judged by hand.
MUST = {
    "epoll-churn": {("epoll-churn", "likely")},
    "eagain-spin": {("eagain-spin", "likely")},
    "small-send": {("tiny-write", "likely")},
}
MAY = {
    # Each request of a file opens and reads it anew, unless it is told to keep it (nginx-cache).
    "nginx": {("file-reread", "likely")},
    # How much memory it has, 10 times a second: now and then just within the limits, and below the floor.
    "redis": {("reopen-pseudo-file", "likely")},
}

NGINX = """daemon off;
worker_processes 1;
pid {cwd}/nginx.pid;
error_log {cwd}/error.log;
{user}
events {{ worker_connections 64; }}
http {{
	{more}
	access_log {cwd}/access.log;
	client_body_temp_path {cwd}/body;
	proxy_temp_path {cwd}/proxy;
	fastcgi_temp_path {cwd}/fastcgi;
	uwsgi_temp_path {cwd}/uwsgi;
	scgi_temp_path {cwd}/scgi;
	server {{
		listen unix:{path};
		root {cwd}/www;
	}}
}}
"""


def ask(path, question, last, clients=CLIENTS, times=TIMES, pause=0):
    """Each client in turn asks and waits for the whole answer."""
    each = [socket.socket(socket.AF_UNIX) for _ in range(clients)]
    for client in each:
        client.settimeout(60)
        client.connect(path)
    for _ in range(times):
        time.sleep(pause)
        for client in each:
            client.sendall(question)
            got = b""
            while not got.endswith(last):
                piece = client.recv(65536)
                if not piece:
                    raise EOFError(f"{question!r}: the server said {got!r} and closed")
                got += piece
    for client in each:
        client.close()


def redis(cwd, path):
    yield ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", cwd,
           "--logfile", os.path.join(cwd, "log")]
    for pipelined in ("1", "8"):
        subprocess.run(["redis-benchmark", "-s", path, "-n", "800", "-c", "8", "-P", pipelined, "-q", "-t", "set,get,lpush"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True,
                       env=live.clean_env(), timeout=120)


def nginx(cwd, path, more=""):
    www = os.path.join(cwd, "www")
    if not os.path.isdir(www):
        os.mkdir(www)
        with open(os.path.join(www, "page"), "w", encoding="ascii") as page:
            page.write("x\n" * 500 + "end\n")
    conf = os.path.join(cwd, "nginx.conf")
    with open(conf, "w", encoding="ascii") as file:
        # Else the worker could not read our folder.
        file.write(NGINX.format(cwd=cwd, path=path, more=more, user="user root;" if os.getuid() == 0 else ""))
    yield ["nginx", "-c", conf, "-e", os.path.join(cwd, "error.log")]
    ask(path, b"GET /page HTTP/1.1\r\nHost: here\r\n\r\n", b"end\n")
    for _ in range(40):
        ask(path, b"GET /page HTTP/1.0\r\n\r\n", b"end\n", times=1)


def nginx_cache(cwd, path):
    return nginx(cwd, path, "open_file_cache max=10;")


def memcached(cwd, path):
    yield ["memcached", "-s", path, "-t", "2", *(["-u", "root"] if os.getuid() == 0 else [])]
    ask(path, b"set a 0 0 5\r\nhello\r\n", b"STORED\r\n")
    ask(path, b"get a b\r\n", b"END\r\n")


def own(way):
    def server(cwd, path):
        yield [os.environ["SYSCULL_SERVER"], way, path]
        # Who spins needs the time for it, however busy the machine is.
        ask(path, b"hello?\n", b"hello\n", **({"clients": 2, "pause": 0.01} if way == "eagain-spin" else {}))
    return server


SERVERS = {"redis": redis, "nginx": nginx, "nginx-cache": nginx_cache, "memcached": memcached,
           **{way: own(way) for way in ("clean", "epoll-churn", "eagain-spin", "small-send")}}


PROGRAMS = {"redis": "redis-server", "nginx": "nginx", "nginx-cache": "nginx", "memcached": "memcached"}


def listener(path):
    """The pid of who listens there, 0 nobody yet."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return 0
        return struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def tree(pid):
    """It and its children, which nginx has made when it answers."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [pid, *[int(child) for child in file.read().split()]]


def judge(name, how, path):
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    found = {(f["rule"], "information" if f["information"] else f["tier"]) for f in result["findings"]}
    must = MUST.get(name, set())
    bad = [f"{how}: no {'/'.join(missing)}" for missing in sorted(must - found)]
    bad += [f"{how}: {'/'.join(other)} fires" for other in sorted(found - must - MAY.get(name, set()))]
    if not result["accounting"]["closed"]:
        bad.append(f"{how}: books are not closed")
    if bad:
        print(json.dumps(result["findings"], indent=1))
    return bad


def command(path):
    return [live.SYSCULL, "run", "--no-keep", "--format", "json=" + path]


def one(name, how, cwd):
    path, results = os.path.join(cwd, "s"), os.path.join(cwd, "results.json")
    work = SERVERS[name](cwd, path)
    words = next(work)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": cwd, "env": live.clean_env()}
    us = server = None
    pid = 0
    try:
        if how == "launched":
            us = subprocess.Popen([*command(results), "--", *words], **quiet)
        else:
            server = subprocess.Popen(words, **quiet)
        started = us or server
        live.until(lambda: started.poll() is not None or listener(path), f"starting {name}")
        if started.poll() is not None:
            return [f"{how}: {name} ended with {started.returncode}"]
        pid = listener(path)
        if server:
            live.until(lambda: PROGRAMS.get(name) != "nginx" or len(tree(pid)) > 1, "a worker")
            pids = tree(pid)
            us = subprocess.Popen([*command(results), *[word for each in pids for word in ("-p", str(each))]], **quiet)
            live.until(lambda: live.attached(us, pids), "attaching")
            time.sleep(0.3)
        for _ in work:
            pass
        if server:
            us.send_signal(signal.SIGINT)
            if us.wait(timeout=60) != 0:
                return [f"{how}: we ended with {us.returncode}"]
        os.kill(pid, signal.SIGTERM)
        if started.wait(timeout=60) != 0:
            return [f"{how}: {name} ended with {started.returncode}"]
    finally:
        for process in (server, us):
            if process and process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
    return judge(name, how, results)


def main():
    live.need_tracing()
    bad, ran = [], 0
    for name in sys.argv[1:]:
        program = PROGRAMS.get(name)
        if program and not live.have(program):
            print(f"no {program} here", file=sys.stderr)
            continue
        ran += 1
        for how in ("launched", "attached"):
            cwd = live.workdir(files=0)
            try:
                wrong = one(name, how, cwd)
            finally:
                shutil.rmtree(cwd, ignore_errors=True)
            print(f"{name}, {how}: {'; '.join(wrong) if wrong else 'ok'}", flush=True)
            bad += wrong
    if not ran:
        sys.exit(77)
    sys.exit(1 if bad else 0)


main()
