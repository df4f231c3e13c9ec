"""`footfall completion`: completion of commands, options and names by the shell."""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.output import text_of
from footfall.cli.shared.usage import options_in

#: Commands that take a robot.
TAKE_ROBOT = ("run", "walk", "follow", "view", "robots", "compare", "survey", "push-limit", "points", "gait", "bench")


@dataclass(frozen=True, kw_only=True)
class Completion:
    """Print a script that lets the shell complete commands, options, and the names of robots and laws.

    Put one line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish:

    eval "$(footfall completion bash)" or eval "$(footfall completion zsh)" or footfall completion fish | source
    """

    shell: Annotated[tyro.conf.Positional[Literal["bash", "zsh", "fish"]], tyro.conf.arg(metavar="bash|zsh|fish")]
    """which shell"""

    def run(self) -> int:
        print(_fish() if self.shell == "fish" else _bash(), end="")
        return 0


def _values() -> dict[str, tuple[str, ...]]:
    """What may follow an option."""
    from footfall.cli.shared.options import ground_options
    from footfall.contact import laws
    from footfall.control import controllers

    return {
        "--law": tuple(laws()),
        "--laws": ("all", *laws()),
        "--ground": tuple(ground_options()),
        "--controller": (*controllers(), "none"),
    }


def _names(command: str) -> tuple[str, ...]:
    """What may follow a command."""
    from footfall.cli.arena import SUBCOMMANDS as ARENA
    from footfall.cli.identify import SUBCOMMANDS as IDENTIFY
    from footfall.contact import laws
    from footfall.papers import papers
    from footfall.robot import robots
    from footfall.show.plots import PLOTS

    some = {"laws": laws(), "paper": papers(), "plot": PLOTS, "completion": ("bash", "zsh", "fish")}
    some |= {"new": ("controller", "law", "study"), "identify": IDENTIFY, "arena": ARENA}
    return tuple(robots()) if command in TAKE_ROBOT else tuple(some.get(command, ()))


@cache
def _options(command: str) -> tuple[str, ...]:
    """The options of a command, as its help has them, with those of every law where it takes one."""
    from footfall.cli import main
    from footfall.contact import laws

    calls = [[command, "--help"]]
    if command == "run":
        calls += [[command, "--law", law, "--help"] for law in laws()]
    found: dict[str, None] = {}
    for call in calls:
        text = StringIO()
        with redirect_stdout(text):
            main(call)
        found |= dict.fromkeys(options_in(text.getvalue()))
    return tuple(found)


def _bash() -> str:
    from footfall.cli import COMMANDS

    values = [f'            {option}) words="{" ".join(names)}" ;;' for option, names in _values().items()]
    options = [f'                {one}) words="{" ".join([*_names(one), *_options(one)])}" ;;' for one in COMMANDS]
    return text_of(
        "completion.bash.txt", commands=" ".join(COMMANDS), values="\n".join(values), options="\n".join(options)
    )


def _fish() -> str:
    from footfall.cli import COMMANDS

    lines = ["# Completion of footfall for fish: footfall completion fish | source"]
    lines += [
        f"complete -c footfall -n __fish_use_subcommand -f -a {name} -d {_quoted(what)}"
        for name, what in COMMANDS.items()
    ]
    values = _values()
    for command in COMMANDS:
        here = f"complete -c footfall -n '__fish_seen_subcommand_from {command}'"
        if names := _names(command):
            lines.append(f"{here} -a {_quoted(' '.join(names))}")
        for option in _options(command):
            given = f" -x -a {_quoted(' '.join(values[option]))}" if option in values else ""
            lines.append(f"{here} -l {option.removeprefix('--')}{given}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
