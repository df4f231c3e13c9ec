"""A program that is asked to end keeps what it has, ends with the code of the signal, and no process outlives it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import footfall as ff

#: s after which what never comes fails a test; no machine is so slow.
PATIENCE = 600.0
ENDED = """
import os, signal, sys
from footfall.cli import main
from footfall.simulation.run import Run

for one in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(one, signal.SIG_DFL)  # whoever runs the tests may ignore them, as nohup does

advance = Run.advance

def asked(self, *arguments):
    more = advance(self, *arguments)
    if self.total > 100:
        os.kill(os.getpid(), signal.{signal})
    return more

Run.advance = asked
{more}
sys.argv = ["footfall", "run", "ball", "--duration", "1e5", "--record-dt", "0.5", "--out", sys.argv[1]]
sys.exit(main())
"""
AGAIN = """
from footfall.recording import Recording

save = Recording.save

def pressed_again(self, *arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    saved = save(self, *arguments, **options)
    os.kill(os.getpid(), signal.SIGINT)
    return saved

Recording.save = pressed_again
"""
LOST = """
import ctypes, os, signal, sys
import footfall.cli

def compile():
    pressed = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGINT) or sum(range(1000)))
    pressed()  # the exception is lost here, as in a call from machine code
    raise RuntimeError("no compiled object yet")

footfall.cli._dispatch = lambda args: compile()
sys.argv = ["footfall", "run"]
sys.exit(footfall.cli.main())
"""
PARENT = """
import sys
from footfall.process.workers import Worker
from sweep_work import hold

Worker().call(hold, sys.argv[1])
"""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_run_that_is_ended_keeps_what_was_recorded(name, code, tmp_path):
    done = python(ENDED.format(signal=name, more=""), str(tmp_path / "kept"))
    assert done.returncode == code, done.stderr
    assert "interrupted at t = " in done.stderr and "Traceback" not in done.stderr
    assert ff.load_recording(tmp_path / "kept").failure.cause == "interrupted"


def test_more_presses_of_ctrl_c_do_not_lose_the_run(tmp_path):
    done = python(ENDED.format(signal="SIGINT", more=AGAIN), str(tmp_path / "kept"))
    assert done.returncode == 130, done.stderr
    assert ff.load_recording(tmp_path / "kept").failure.cause == "interrupted"


def test_an_interruption_that_machine_code_loses_is_one_all_the_same():
    done = python(LOST)
    assert (done.returncode, done.stderr) == (130, "footfall: interrupted\n")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_process_that_started_them(how, tmp_path):
    """A worker locks a file and sleeps; when its parent is killed, the lock is soon free."""
    path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "lock")], env=env)
    until = time.monotonic() + PATIENCE
    while not (tmp_path / "locked").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert (tmp_path / "locked").exists()
    parent.send_signal(how)
    parent.wait()
    with (tmp_path / "lock").open() as file:
        while time.monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.02)
    pytest.fail("the worker goes on without the process that started it")
