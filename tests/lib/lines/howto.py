# SPDX-License-Identifier: BSD-2-Clause
"""usage: howto.py TOP LIBSYSCULL_A
docs/howto/move-from-stdio.md: what stands there compiles, and before and after
answer the same of a process that stands still."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP, LIBRARY = sys.argv[1:3]
HEAD = """#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <syscull/proc.h>
#include <unistd.h>
"""
MAIN = """
int main(void)
{
	pid_t pid = fork();
	int bad = 0;

	if (pid == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, NULL, WUNTRACED) != pid)
		return 2;
%s
	kill(pid, SIGKILL);
	return bad;
}
"""
ROW = """	{
		unsigned long long before = %(name)s_before(pid), after = %(name)s_after(pid);

		printf("%(name)s %%llu %%llu\\n", before, after);
		bad |= before != after || before == 0;
	}"""

compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
if not compiler:
    print("no C compiler here", file=sys.stderr)
    sys.exit(77)
with open(os.path.join(TOP, "docs", "howto", "move-from-stdio.md"), encoding="utf-8") as file:
    code = re.findall(r"^```c\n(.*?)^```", file.read(), re.M | re.S)
names = re.findall(r"^unsigned long long (\w+)_before\(", "\n".join(code), re.M)
assert len(names) >= 4, names
with tempfile.TemporaryDirectory(prefix="syscull-howto-") as folder:
    source, program = os.path.join(folder, "howto.c"), os.path.join(folder, "howto")
    with open(source, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n".join(code) + MAIN % "\n".join(ROW % {"name": name} for name in names))
    subprocess.run([compiler, "-std=gnu11", "-Wall", "-Wextra", *os.environ.get("SYSCULL_SANITIZE", "").split(), "-I",
                    os.path.join(TOP, "include"), source, LIBRARY, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
