"""A fault injector: one file-system call of a block fails, and it is known which.

``Faults`` wraps what Python calls to change or read files: functions of ``os``, files that are opened, and what is
written to them. It counts calls, and at a chosen one raises an exception, or plays a process that is killed: from then
on no call has any effect. Half of what a failing ``write`` was given is written.
"""

from __future__ import annotations

import errno
import io
import os
import re
from contextlib import contextmanager, suppress

READING = ("listdir", "scandir", "stat", "lstat")
CALLS = ("open", "close", "fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "link", *READING)
#: The number of no process: what a dead one wrote is litter.
ENDED = 2**30


class Killed(BaseException):
    """The process is dead; whatever handles this can change nothing any more."""


def interrupt():
    return KeyboardInterrupt()


def no_space():
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Faults:
    """Counts file-system calls and fails at number ``at`` (from 0; None: never), ``after`` or before what it does.

    ``kind`` makes the exception; ``only`` counts calls of that name alone. ``names`` holds the names of all calls.
    """

    def __init__(self, kind=None, at=None, after=False, only=None):
        self.kind, self.at, self.after, self.only = kind, at, after, only
        self.names, self.dead = [], False

    def call(self, function, *args, half=None, **options):
        if self.dead:
            raise Killed
        if self.only not in (None, function.__name__):
            return function(*args, **options)
        self.names.append(function.__name__)
        if len(self.names) - 1 != self.at:
            return function(*args, **options)
        self.dead = self.kind is Killed
        if self.after or (self.kind is no_space and function.__name__ == "close"):  # which closes, even if it fails
            function(*args, **options)
        elif half is not None:
            half()
        raise self.kind()

    @contextmanager
    def installed(self, monkeypatch):
        with monkeypatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self._counted(getattr(os, name)))
            opened = io.open
            patch.setattr(io, "open", lambda *args, **options: self._opened(opened, *args, **options))
            patch.setattr("builtins.open", io.open)
            if self.kind is Killed:
                patch.setattr(os, "getpid", lambda: ENDED)
            yield

    def _counted(self, function):
        def counted(*args, **options):
            try:
                return self.call(function, *args, **options)
            except Killed:
                if function.__name__ == "close":
                    with suppress(OSError):  # after the call it is closed already
                        function(*args)  # the system closes the files of a dead process
                raise

        return counted

    def _opened(self, opened, *args, **options):
        file = self.call(opened, *args, **options)
        if file.writable():
            real = file.write

            def write(data):
                def half():
                    real(data[: len(data) // 2])
                    file.flush()

                return self.call(real, data, half=half)

            return _Written(file, write)
        return file


class _Written:
    """A file whose ``write`` is another."""

    def __init__(self, file, write):
        self.file, self.write = file, write

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __iter__(self):
        return iter(self.file)


def faults(monkeypatch, prepare, block):
    """Run ``block`` once for every file-system call that it makes, every kind of fault, before and after that call.

    A call that only reads is interrupted before it happens: a kill there is the same as at the next call that writes.
    So is a kill after a call, but where half is written at the next.
    ``prepare`` is called before each run. Yields what happened, after each run; the first, without a fault, counts.
    """
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # no test can see what it does, and it takes long
    prepare()
    counting = Faults()
    with counting.installed(monkeypatch):
        block()
    assert {"open", "write", "replace"} <= set(counting.names)
    for at, name in enumerate(counting.names):
        happen = [(kind, after) for kind in (interrupt, no_space, Killed) for after in (False, True)]
        ahead = next((one for one in counting.names[at + 1 :] if one not in READING), "write")
        if ahead != "write":
            happen.remove((Killed, True))
        for kind, after in happen[:1] if name in READING else happen:
            prepare()
            with suppress(KeyboardInterrupt, Killed, Exception), Faults(kind, at, after).installed(monkeypatch):
                block()
            yield f"{kind.__name__} {'after' if after else 'before'} call {at}, {name}"


def content_of(folder):
    """Names and contents of all files in a folder, whatever chance put into the names; empty if there is no folder."""
    chance = re.compile(r"\.[0-9a-f]{8}-\d+-[0-9a-f]{8}")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return tuple((chance.sub("", str(path.relative_to(folder))), path.read_bytes()) for path in files)
