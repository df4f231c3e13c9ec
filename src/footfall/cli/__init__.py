"""The command ``footfall``.

To add a command: write a class from ``Command`` named after it (its fields are the options, its docstring the help,
``run()`` does the work and returns the exit code) in ``cli/NAME.py``, and add its line to ``GROUPS``; where several
commands share a file, also to ``SHARED``. A command that has others below it names them in ``SUBCOMMANDS``; one that
depends on its options has a function ``shape(args)``, which returns the class.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from inspect import getdoc
from io import TextIOWrapper
from signal import SIGINT
from typing import Any

from footfall.errors import FootfallError, FootfallWarning, UsageError, did_you_mean
from footfall.process.garbage import search_garbage_seldom
from footfall.process.interrupts import asked_to_end, end_as_by_ctrl_c

__all__ = ["COMMANDS", "main"]

#: The commands in the groups of ``footfall --help``.
GROUPS = {
    "Try": {
        "demo": "let a robot walk five steps, the biped or yours, and report what happened",
        "run": "simulate a robot on a ground under a contact law",
        "walk": "let a robot walk on two legs or four, and report speed, distance and cost",
        "follow": "let a robot follow a motion from a file, and report errors and help",
        "view": "show recordings in the browser",
        "robots": "list the built-in robots, or describe one",
        "laws": "list the contact laws, or describe one",
        "new": "write a small working file to start from: a controller, a law, a study, a policy's contract",
    },
    "Study": {
        "compare": "run the same robot, ground, controller and push under several laws",
        "autopsy": "find out what a learned policy lives on, and which assumption breaks it first",
        "train": "train a policy on one contact law or several: stand, follow velocities, get up",
        "push-limit": "find the largest push that a robot survives under each law",
        "sweep": "run thousands of simulations from one study file into one table",
        "design": "vary robot, foot and gait, and show the front of best compromises",
        "identify": "find friction, restitution and parameters of laws from measurements",
        "estimate": "find contact forces, modes and the state of the base in a robot's log",
        "replay": "run the torques or targets of a robot's log again, and report the difference",
        "gait": "find the walk of least torque of a planar biped",
        "human-walk": "make the table of a person's walk from a recording of joints and forces",
        "survey": "stand, push and walk every robot under every law with defaults, in one table",
        "paper": "run the experiments of a paper, and set its claims beside what is measured",
    },
    "Files": {
        "report": "write one HTML page of a recording, or of several compared",
        "plot": "draw a plot of a recording, or of several overlaid",
        "video": "write a recording as MP4 or GIF",
        "audit": "check whether a ground can give the forces of a recording",
        "export": "write a recording for other tools: CSV, NumPy, OpenSim, C3D, Foxglove, Rerun",
    },
    "Set up and maintain": {
        "warm": "compile everything ahead of time, so that no later start waits",
        "doctor": "say what a bug report needs: versions, cache, and a self-test of seconds",
        "bench": "measure the speed of every law against MuJoCo's own step",
        "arena": "ask every physics engine the same questions, with the truth beside the answers",
        "stress": "run every law from random states, and count what goes wrong",
    },
}
COMMANDS = {name: what for group in GROUPS.values() for name, what in group.items()}

#: The files that hold several commands.
SHARED = {
    "bench": ("stress", "survey"),
    "gait": ("human-walk",),
    "lists": ("laws", "robots"),
    "logs": ("estimate", "replay"),
    "recordings": ("audit", "export", "plot", "report", "video"),
    "sweep": ("design",),
    "walk": ("demo", "follow"),
}
HOMES = {name: file for file, names in SHARED.items() for name in names}

COMMON = """\
options of every command:
  --help          what a command does and takes
  --debug         show the traceback of an error (or set FOOTFALL_DEBUG=1)
  --import FILE   first import a Python file or module, such as one that registers a contact law
"""

HELP = """usage: footfall COMMAND [OPTIONS]

Legged robots on the ground, with any contact law behind one argument.

{commands}

{common}  --version       the version of Footfall

exit codes:
  0    done
  1    the robot fell, a run failed, a check did not pass, or a name or value was refused
  2    wrong usage: what was typed cannot be read, or would overwrite
  130  interrupted; what was found until then is kept or printed
  143  terminated, likewise

footfall COMMAND --help says more."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, see ``HELP``."""
    args = list(sys.argv[1:] if argv is None else argv)
    if argv is None:  # a process of its own
        search_garbage_seldom()
        end_as_by_ctrl_c()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal without µ and lines shows a question mark
    debug = os.environ.get("FOOTFALL_DEBUG", "0") not in ("", "0")
    if "--debug" in args:
        debug = True
        args = [arg for arg in args if arg != "--debug"]
    with warnings.catch_warnings():
        warnings.simplefilter("always", FootfallWarning)
        warnings.showwarning = partial(_show_warning, set())
        try:
            return _dispatch(args)
        except BrokenPipeError:  # `footfall laws | head`: the reader has gone, and Python shall not complain at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except (Exception, KeyboardInterrupt) as error:
            # Half-compiled code fails in its own way where the interruption was lost in a call from machine code.
            ended = isinstance(error, KeyboardInterrupt) or asked_to_end() is not None
            if not ended and not isinstance(error, FootfallError | OSError | MemoryError):
                raise
            if debug:
                import traceback

                traceback.print_exc()
            print(f"footfall: {_as_typed(error, args) or _sentence(error)}", file=sys.stderr)
            exec("")  # Python forgets that an exec of others was interrupted, and ends with our code, not by the signal
            return 128 + (asked_to_end() or SIGINT) if ended else 2 if isinstance(error, UsageError) else 1


def _sentence(error: BaseException) -> str:
    """The error as a sentence; of file and memory errors, the system's own."""
    if asked_to_end() is not None and not isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.filename is not None:
        return f"'{error.filename}': {error.strerror}"
    if isinstance(error, MemoryError):
        return str(error) or "there is not enough memory"
    return str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else type(error).__name__)


def _as_typed(error: BaseException, args: Sequence[str]) -> str | None:
    """The error in terms of the option whose value is refused; None if it is of something else."""
    name, wanted = getattr(error, "refused", None) or ("", "")
    for i, arg in enumerate(args):
        option, equals, value = arg.partition("=")
        if name and option.startswith("--") and option.rpartition(".")[2].lstrip("-").replace("-", "_") == name:
            typed = value if equals else " ".join(args[i + 1 : i + 2])
            return f"{option} takes {wanted}, and not '{typed}'"
    return None


def _dispatch(args: list[str]) -> int:
    from footfall.cli.shared.options import import_file

    for arg in args:
        shown = arg.encode(errors="replace").decode()
        if shown != arg:  # bytes that Python could not read as text
            raise UsageError(f"'{shown}' is not UTF-8, and Parquet and MuJoCo open no such file: rename it")
    for name in _take_imports(args):
        import_file(name)
    if not args or args[0] in ("-h", "--help", "help"):
        commands = "\n\n".join(
            f"{title}:\n" + "\n".join(f"  {name:<15} {what}" for name, what in group.items())
            for title, group in GROUPS.items()
        )
        print(HELP.format(commands=commands, common=COMMON))
        return 0 if args else 2
    if args[0] == "--version":
        from footfall.version import __version__

        print(f"footfall {__version__}")
        return 0
    name, rest = args[0], args[1:]
    if name not in COMMANDS:
        kind = "option" if name.startswith("-") else "command"
        raise UsageError(f"no {kind} '{name}': {did_you_mean(name, COMMANDS)}")
    command = _parse(name, rest)
    return 0 if command is None else command.run()


def _parse(name: str, args: list[str]) -> Any:
    """The command with what was typed for it; None if that was --help, which is printed."""
    from footfall.cli.shared.options import chosen_options, who_has
    from footfall.cli.shared.usage import help_of, options_of, values_of

    command, name, args = command_of(name, args)
    options = [*options_of(command), *chosen_options(command, args)]
    if "--help" in args or "-h" in args:
        print(help_of(f"footfall {name}", getdoc(command) or "", options), end="")
        return None
    try:
        typed = values_of(options, args, name, lambda option: who_has(option, command, options))
    except UsageError as error:
        sentence = str(error)
        more = f"{' ' if sentence.endswith('?') else '; '}footfall {name} --help says more"
        raise UsageError(f"{sentence}{more}") from None
    given: dict[str, Any] = {}
    for key, value in typed.items():
        choice, dot, own = key.rpartition(".")
        if dot:
            given.setdefault(f"{choice}_options", {})[own] = value
        else:
            given[key] = value
    return command(**given)


def command_of(name: str, args: list[str]) -> tuple[Any, str, list[str]]:
    """The class of a command, or of the subcommand that ``args`` begin with; its whole name; its arguments."""
    module = import_module(f"footfall.cli.{HOMES.get(name, name).replace('-', '_')}")
    below = getattr(module, "SUBCOMMANDS", {})
    if args and args[0] in below:
        return below[args[0]], f"{name} {args[0]}", args[1:]
    shape = getattr(module, "shape", None)
    return getattr(module, name.title().replace("-", "")) if shape is None else shape(args), name, args


def _take_imports(args: list[str]) -> list[str]:
    """Remove every ``--import NAME`` and ``--import=NAME`` from the arguments; returns the names."""
    found = []
    while at := next((i for i, arg in enumerate(args, 1) if arg.partition("=")[0] == "--import"), 0):
        _, equals, name = args.pop(at - 1).partition("=")
        if not equals:
            if len(args) < at:
                raise UsageError("--import needs the name of a Python file or module")
            name = args.pop(at - 1)
        found.append(name)
    return found


def _show_warning(
    shown: set[str], message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any
) -> None:
    if not issubclass(category, FootfallWarning) and category is not UserWarning:  # as MuJoCo's are, of a model
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))
    elif str(message) not in shown:  # once, also where a command makes several runs
        shown.add(str(message))
        print(f"footfall: warning: {message}", file=sys.stderr)
