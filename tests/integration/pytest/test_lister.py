# SPDX-License-Identifier: BSD-2-Clause
"""Tests with budgets, and one whose calls are its own business."""
import os

import lister
import pytest


@pytest.fixture
def folder(tmp_path):
    for number in range(20):
        path = tmp_path / f"f{number}"
        path.write_text("x" * number)
        # A fixture's calls are in nobody's budget.
        for _ in range(5):
            try:
                os.getxattr(path, "user.comment")
            except OSError:
                pass
    return tmp_path


@pytest.mark.calls(max={"@xattr": 3}, canary={"@stat": 20})
def test_sizes(folder):
    assert sum(lister.sizes(folder).values()) == 190


@pytest.mark.calls(max={"@xattr": 0, "@kill": 0})
@pytest.mark.parametrize("count", [0, 2], ids=["none", "two files; = 2"])
def test_few(tmp_path, count):
    for number in range(count):
        (tmp_path / str(number)).touch()
    assert len(lister.sizes(tmp_path)) == count


def test_without_budget(folder):
    for name in os.listdir(folder):
        os.listxattr(folder / name)


@pytest.mark.skip(reason="to show what a skipped test does")
@pytest.mark.calls(max={"@xattr": 3})
def test_skipped(folder):
    lister.sizes(folder)
