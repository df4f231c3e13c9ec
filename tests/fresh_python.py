"""Fresh interpreters that know what Footfall imports and nothing of Footfall: forked from one that imported it once."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

#: Reads what to run, one line each, and answers with the exit code. What is imported takes longer than all else.
SERVER = """
import json, os, sys, traceback
import mujoco, numba
for line in sys.stdin:
    job = json.loads(line)
    if (child := os.fork()) == 0:
        code = 1
        try:
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(job[name], os.O_WRONLY | os.O_CREAT), number)
            os.chdir(job["cwd"])
            os.environ.clear()
            os.environ.update(job["environment"])
            sys.path[:0] = ["", job["path"]]
            sys.argv = ["-c", *job["arguments"]]
            exec(compile(job["code"], "<string>", "exec"), {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Answer(NamedTuple):
    """How a program ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


@cache
def _server() -> subprocess.Popen[str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-c", SERVER]
    process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(process.communicate)  # it ends with its input
    return process


def fresh_python(code: str, cwd: Path, path: Path, *arguments: str, **environment: str) -> Answer:
    """Run code as ``python -c`` does, with the modules of a folder and with changes of the environment."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = (Path(folder) / name for name in ("out", "err"))
        job = {
            "code": code,
            "cwd": str(cwd),
            "path": str(path),
            "arguments": arguments,
            "out": str(out),
            "err": str(err),
        }
        server.stdin.write(json.dumps(job | {"environment": os.environ | environment}) + "\n")
        server.stdin.flush()
        returncode = int(server.stdout.readline())
        return Answer(returncode, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))
