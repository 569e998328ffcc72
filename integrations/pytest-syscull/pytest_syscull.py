# SPDX-License-Identifier: BSD-2-Clause
"""Budgets of system calls for tests: @pytest.mark.calls(max={"@xattr": 3}).

    pytest --syscull-conf=calls.conf              # collects, writes the budgets
    syscull check --config calls.conf -- pytest   # runs the tests, judges them

Counts nothing itself: it tells syscull where each test begins and ends, by
looking up a name that never exists, and a pytest without syscull around it
runs as ever.
"""
import hashlib
import os
import re

import pytest

MARK = "/.syscull/mark/"
OUTSIDE = "pytest"  # the region of all that is no test
NAME_MAX = 200  # bytes of a region's name that are told apart
KINDS = {"max": "=", "min": ">=", "canary": ">="}


def region_of(nodeid):
    """The name of a test's region: what a configuration file can hold, and no two the same."""
    name = re.sub(r"[^A-Za-z0-9_.:/,+@\[\]-]", "_", nodeid)
    if name != nodeid or len(name) > NAME_MAX or name == OUTSIDE:
        name = name[:NAME_MAX - 13] + "-" + hashlib.sha256(nodeid.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return name


def begin(region):
    os.access(MARK + region, os.F_OK)


def budgets_of(item):
    """{(kind, calls): number}; of two marks the one that is nearer to the test counts."""
    budgets = {}
    for mark in item.iter_markers("calls"):
        where = f"{item.nodeid}: @pytest.mark.calls"
        if mark.args or not mark.kwargs:
            raise pytest.UsageError(f'{where} wants max=, min= or canary=, as in calls(max={{"@xattr": 3}})')
        for kind, limits in mark.kwargs.items():
            if kind not in KINDS:
                raise pytest.UsageError(f"{where} takes max=, min= and canary=, not {kind}=")
            if not isinstance(limits, dict):
                raise pytest.UsageError(f'{where}: {kind}= wants calls and numbers, as in {{"@xattr": 3}}')
            for calls, number in limits.items():
                if not isinstance(calls, str) or not re.fullmatch(r"[A-Za-z0-9_@%:+]+", calls):
                    raise pytest.UsageError(f"{where}: {calls!r} names no calls")
                if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                    raise pytest.UsageError(f"{where}: {calls} wants a whole number, not {number!r}")
                budgets.setdefault((kind, calls), number)
    return budgets


def pytest_addoption(parser):
    parser.getgroup("syscull").addoption(
        "--syscull-conf", metavar="FILE",
        help="write the budgets of @pytest.mark.calls to FILE for `syscull check --config FILE`, and run no test")


def pytest_configure(config):
    config.addinivalue_line("markers", 'calls(max={"@xattr": 3}, min=..., canary=...): how often system calls may '
                                       "be made by the test, for syscull check")
    if config.getoption("--syscull-conf"):
        config.option.collectonly = True


def pytest_collection_modifyitems(config, items):
    # Regions of processes that run at the same time cannot be told apart.
    if hasattr(config, "workerinput") and any(budgets_of(item) for item in items):
        raise pytest.UsageError("@pytest.mark.calls needs one process: run pytest without -n")


def pytest_collection_finish(session):
    path = session.config.getoption("--syscull-conf")
    if not path:
        return
    lines = []
    for item in session.items:
        for (kind, calls), number in budgets_of(item).items():
            lines.append(f"{kind} = {calls} in region {region_of(item.nodeid)}{KINDS[kind]}{number}\n")
    if not lines:
        raise pytest.UsageError("no test that was collected has @pytest.mark.calls")
    with open(path, "w", encoding="ascii") as file:
        file.write("# Written by pytest --syscull-conf.\n[budget]\n" + "".join(lines))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    # A test that is skipped has a region in which nothing happens.
    if budgets_of(item):
        begin(region_of(item.nodeid))
        begin(OUTSIDE)


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item):
    begin(region_of(item.nodeid))
    yield
    begin(OUTSIDE)
