"""Reading files of a robot's log: channels of numbers, each with its own stamps.

| file | holds |
|---|---|
| .mcap, or a ROS 2 bag with one | messages of ROS 2 (CDR) or JSON; times of their headers, else of the log |
| .csv, .tsv, .txt, .parquet | columns by name, and times |
| .npz | arrays (T,) or (T, k), with ``time``, ``dt`` or a rate; an array of k names names the columns |

No ROS needs to be installed. A channel is called as PlotJuggler calls it: ``/joint_states/left_knee/position``,
``/imu/angular_velocity/x``, ``/lowstate/motor_state[3]/q``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.errors import FootfallError, optional_package
from footfall.files.stamps import GAP
from footfall.files.tables import TIMES, plain, read_by_ending, read_columns, time_column, times_by_rate

#: Most numbers of an array in a message that may be a state of a robot; larger ones are pictures, clouds or maps.
LARGEST = 128
#: Largest share of steps back in time of a log whose clock was set anew; rows in no order have more.
SHUFFLED = 0.05
#: Names by which files state samples per second, or the time between two.
RATES, STEPS = ("fps", "rate", "frequency", "hz", "framerate", "samplerate"), ("dt", "timestep", "period", "ts")


class Channel(NamedTuple):
    """Numbers (T,) over their own times (T,), s."""

    name: str
    time: np.ndarray
    values: np.ndarray
    unit: str  # as the file states it, in SI; "" where it does not


class Channels(NamedTuple):
    """The channels of a file, and notes on reading it."""

    channels: list[Channel]
    done: list[str]


def read_channels(path: Path, rate: float | None = None) -> Channels:
    """The channels of a file or a bag; ``rate``, samples per second, gives the times where there are none."""
    if path.is_dir():
        path = _of_bag(path)
    readers: dict[str, Callable[[Path], Channels]] = {".mcap": _read_mcap, ".npz": partial(_read_npz, rate=rate)}
    readers |= dict.fromkeys((".csv", ".tsv", ".txt", ".parquet"), partial(_read_table, rate=rate))
    other = {".bag": "a bag of ROS 1", ".db3": "a ROS 2 bag in SQLite, which does not describe its messages"}
    this = other.get(path.suffix.lower())
    how = f"; this is {this}: ros2 bag convert, or rosbags-convert, writes MCAP" if this else ""
    found = read_by_ending(path, readers, "a log", f", and folders of ROS 2 bags in MCAP{how}")
    kept = [one for one in found.channels if np.isfinite(one.values).sum() > 1]
    if not kept:
        raise FootfallError(f"'{path}' holds no samples: no channel has two numbers")
    return Channels([_increasing(one, path) for one in kept], found.done)


def _increasing(one: Channel, path: Path) -> Channel:
    """The samples with a number, in the order of their times; the last one of each time."""
    known = np.isfinite(one.values) & np.isfinite(one.time)
    time, values = one.time[known], one.values[known]
    step = np.diff(time)
    if 0 < (step < 0.0).sum() <= SHUFFLED * step.size and -step.min() > GAP * float(np.median(np.abs(step))):
        raise FootfallError(
            f"'{path}' cannot be read as a log: times of '{one.name}' go back by {-step.min():.4g} s after sample "
            f"{int(step.argmin()) + 1}: cut it there, where its clock was set anew or another log begins"
        )
    order = np.argsort(time, kind="stable")
    time, values = time[order], values[order]
    last = np.append(np.diff(time) > 0.0, True)
    return one._replace(time=time[last], values=values[last])


def _of_bag(folder: Path) -> Path:
    found = sorted(folder.glob("*.mcap"))
    if len(found) == 1:
        return found[0]
    if found:
        raise FootfallError(f"'{folder}' holds {len(found)} files .mcap: name one of them")
    other = next((file.name for file in folder.iterdir() if file.suffix in (".db3", ".bag")), None)
    how = f" but {other}: ros2 bag convert writes MCAP" if other else ""
    raise FootfallError(f"'{folder}' holds no file .mcap{how}")


# ---- tables and arrays -----------------------------------------------------------------------------------------------


def _read_table(path: Path, rate: float | None) -> Channels:
    values, units, stated, done, _ = read_columns(path)
    time = time_column(values, units, done)
    if not values:
        raise ValueError("it holds no columns of numbers beside its times")
    count = len(next(iter(values.values())))
    if time is None:
        time = times_by_rate(count, rate or stated, "column 'time'", values)
    return Channels([Channel(name, time, own, units[name]) for name, own in values.items()], done)


def _read_npz(path: Path, rate: float | None) -> Channels:
    """Channels of arrays (T,) and (T, k) by name; arrays of k texts name the columns of those (T, k)."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    texts = {name: [str(one) for one in own.ravel()] for name, own in arrays.items() if own.dtype.kind in "US"}
    numbers = {name: np.asarray(own, dtype=float) for name, own in arrays.items() if own.dtype.kind in "fiub"}
    single = {plain(name): float(own.ravel()[0]) for name, own in numbers.items() if own.size == 1}
    stated = next((single[key] for key in RATES if key in single), None)
    stated = stated or next((1.0 / single[key] for key in STEPS if single.get(key, 0.0) > 0.0), None)
    series = {name: own for name, own in numbers.items() if own.size > 1 and own.ndim in (1, 2)}
    times = next((name for name in series if plain(name) in TIMES and series[name].ndim == 1), None)
    count = len(series[times]) if times else max((len(own) for own in series.values()), default=0)
    series = {name: own for name, own in series.items() if len(own) == count}
    done: list[str] = []
    time = time_column({times: series.pop(times)}, {times: ""}, done) if times else None
    if time is None:
        time = times_by_rate(count, rate or stated, "array 'time'", arrays)
    found = []
    for name, own in series.items():
        if own.ndim == 1:
            found.append(Channel(name, time, own, ""))
            continue
        called = [names for key, names in texts.items() if len(names) == own.shape[1]]
        near = [names for key, names in texts.items() if len(names) == own.shape[1] and _alike(key, name)] or called
        for k in range(own.shape[1]):
            column = f"{near[0][k]}/{name}" if near else f"{name}[{k}]"
            found.append(Channel(column, time, own[:, k], ""))
    return Channels(found, done)


def _alike(key: str, name: str) -> bool:
    """Whether names of columns, such as joint_names, are those of an array, such as joint_pos."""
    return bool(set(key.lower().split("_")) & set(name.lower().split("_")))


# ---- MCAP -----------------------------------------------------------------------------------------------------------


def _read_mcap(path: Path) -> Channels:
    reading = optional_package("mcap.reader", "reading MCAP")
    from mcap.exceptions import McapError

    series: dict[str, tuple[list[int], list[float]]] = {}  # ns, and numbers
    skipped: dict[str, int] = {}
    later: list[int] = []  # ns, of headers than of the log
    by_log: set[str] = set()
    decode = _decoder()
    with path.open("rb") as file:
        try:
            for schema, channel, message in reading.make_reader(file).iter_messages():
                content = decode(schema, channel, message)
                if content is None:
                    skipped[channel.topic] = skipped.get(channel.topic, 0) + 1
                    continue
                stamp = _header_stamp(content)
                if stamp is not None:
                    later.append(stamp - message.log_time)
                for name, value in _flat(channel.topic, content):
                    times, values = series.setdefault(name, ([], []))
                    times.append(message.log_time if stamp is None else stamp)
                    values.append(value)
                    if stamp is None:
                        by_log.add(name)
        except McapError as error:
            raise ValueError(f"it is no MCAP file, or was cut off ({type(error).__name__} {error})") from None
    done = [f"left out topic {topic} ({count} messages), which is not decoded" for topic, count in skipped.items()]
    if later:
        done.append("times of messages are those of their headers, where they have one")
    # Headers may have another clock than the log, such as that of a simulation.
    shift = sorted(later)[len(later) // 2] if later else 0
    moved = {name: [one + shift for one in own[0]] if name in by_log else own[0] for name, own in series.items()}
    begin = min((min(times) for times in moved.values()), default=0)
    found = [
        Channel(name, 1e-9 * np.array([one - begin for one in moved[name]]), np.array(values), "")
        for name, (_, values) in series.items()
        if "/header/" not in name
    ]
    return Channels(found, done)


def _decoder() -> Any:
    """A function of schema, channel and message that returns its content, None of what is not understood."""
    known: dict[int, Any] = {}

    def decode(schema: Any, channel: Any, message: Any) -> Any:
        if channel.message_encoding == "json":
            return json.loads(message.data)
        if channel.message_encoding != "cdr" or schema is None:
            return None
        if schema.id not in known:
            ros = optional_package("mcap_ros2.decoder", "reading messages of ROS 2")
            known[schema.id] = ros.DecoderFactory().decoder_for("cdr", schema)
        return known[schema.id](message.data) if known[schema.id] is not None else None

    return decode


def _header_stamp(content: Any) -> int | None:
    """The time in the header of a message, ns; None where it has none or was not filled in."""
    stamp = _part(_part(content, "header"), "stamp")
    seconds, fractions = _part(stamp, "sec"), _part(stamp, "nanosec") or _part(stamp, "nsec") or 0
    return 10**9 * int(seconds) + int(fractions) if seconds or fractions else None


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _flat(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """The numbers in a message with their names; arrays beside an array of names go by these."""
    if isinstance(value, bool | int | float | np.number):
        yield name, float(value)
    elif isinstance(value, dict) or hasattr(value, "__slots__"):
        parts = value if isinstance(value, dict) else {key: getattr(value, key) for key in value.__slots__}
        names = next((parts[key] for key in ("name", "names", "joint_names", "joint_name") if key in parts), None)
        called = names if _is_list(names) and names and all(isinstance(one, str) for one in names) else None
        for key, own in parts.items():
            if called is not None and _is_list(own) and len(own) == len(called) and own is not names:
                for one, part in zip(called, own, strict=True):
                    yield from _flat(f"{name}/{one}/{key}", part)
            elif own is not names:
                yield from _flat(f"{name}/{key}", own)
    elif _is_list(value) and len(value) <= LARGEST:
        for i, one in enumerate(value):
            yield from _flat(f"{name}[{i}]", one)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray) or type(value).__name__ == "array"
