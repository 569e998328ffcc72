# SPDX-License-Identifier: BSD-2-Clause
"""Does somebody else watch all calls of the machine?  Then each of them is
dearer, up to three times, and what is measured says little."""
import os
import time

WATCHED = 1.2
PATIENCE_S = 60


def null_ns():
    """A call that does nothing, with what python adds."""
    rounds = []
    for _ in range(5):
        begin = time.perf_counter_ns()
        for _ in range(1000):
            os.getppid()
        rounds.append((time.perf_counter_ns() - begin) / 1000)
    return min(rounds)


class Quiet:
    """Does somebody else watch all calls?"""

    def __init__(self):
        self.least = min(null_ns() for _ in range(50))
        self.waited = 0

    def now(self):
        self.least = min(self.least, ns := null_ns())
        return ns <= self.least * WATCHED

    def wait(self):
        """False: it did not become quiet, of all the time that a row may wait."""
        while not self.now():
            if self.waited >= PATIENCE_S:
                return False
            time.sleep(0.2)
            self.waited += 0.2
        return True
