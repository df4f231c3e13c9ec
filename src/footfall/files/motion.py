"""Measured motions and forces, from the files of gait laboratories and from tables.

    motion = ff.load_motion("walk_ik.mot")
    motion.time, motion["knee_angle_r"]                 # s, rad
    ff.load_motion("walk.trc").vector("R.Heel")         # (T, 3) m
    ff.load_motion("walk.c3d").z_up().vector("plate1.force")
    ff.load_forces("plates.csv", feet={"left": "F1", "right": "F2"})

OpenSim's .mot and .sto, .trc markers, .c3d, and tables (.csv, .tsv, .txt, .parquet) with units in
their head. Numbers come in SI units: degrees become radians, millimetres metres. Axes stay those of the file until
``z_up`` turns them into Footfall's. In OpenSim's files and .trc files y is up; in a .c3d file the force plates
tell; otherwise, and in tables, z is up unless ``up`` says so. ``done`` lists what was assumed or left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError
from footfall.files.c3d import C3D, force_plates, read_c3d
from footfall.files.measured import Measured
from footfall.files.tables import SCALES, numbers, read_by_ending, read_delimited, scale_of, unique


def read_storage(path: Path) -> Measured:
    """A file of OpenSim's class Storage; units by the names of columns, which the format does not state."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    end = next((i for i, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None:
        raise ValueError("it has no line 'endheader'")
    head = dict(line.lower().replace(" ", "").partition("=")[::2] for line in lines[:end])
    # A blank line after the header is legal.
    rest = [(i + 1, line) for i, line in enumerate(lines) if i > end and line.strip()]
    if not rest:
        raise ValueError("it holds no samples")
    names = unique(filter(None, _cells(rest[0][1])))
    if names[0].lower() != "time":
        raise ValueError(f"its first column is '{names[0]}' and not time")
    table = _numbers(rest[1:], len(names), lambda i: f"column '{names[i]}'")
    degrees = head.get("indegrees") == "yes"
    columns, units = {}, {}
    for name, values in zip(names[1:], table.T[1:], strict=True):
        scale, unit = SCALES[_unit(name, degrees)]
        columns[name], units[name] = scale * values, unit
    rows = head.get("nrows", head.get("datarows", ""))
    announced = rows.isdigit() and int(rows) != len(table)
    done = (f"its header announces {rows} rows, and {len(table)} were read",) if announced else ()
    return Measured(table[:, 0], columns, units, "y", path.name, done)


def _unit(name: str, degrees: bool) -> str:
    """What a column is in; its name says it, and words in it say more than its last letters."""
    low = name.lower()
    if re.search(r"torque|moment|_m[xyz]$", low):
        return "nm"
    if re.search(r"force.*v[xyz]$|_f[xyz]$|_force$|^grf.*[xyz]$|f[xyz]_?\d*$", low):
        return "n"
    if re.search(r"force.*p[xyz]$|_t[xyz]$|_p[xyz]$|cop.*[xyz]$|length$|_t[xyz]/value$", low):
        return "m"
    if re.search(r"activation$|excitation$|^/?forceset/|reserve", low):
        return ""
    if re.search(r"_u$|/speed$", low):
        return "deg/s" if degrees else "rad/s"
    return "deg" if degrees else "rad"


def _cells(line: str) -> list[str]:
    """Cells between tabs, or between blanks where there are no tabs."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line.strip() else line.split()


def _numbers(rows: list[tuple[int, str]], width: int, called: Callable[[int], str], short: bool = False) -> np.ndarray:
    """(T, width) the numbers of rows, which come with their lines; NaN where nothing stands between two tabs.

    ``called`` names a column in messages. A row that ends early is refused, unless ``short``.
    """
    if not rows:
        raise ValueError("it holds no samples")
    table = []
    for where, line in rows:
        cells = _cells(line)
        while len(cells) > width and not cells[-1]:
            cells.pop()
        if short and "\t" in line:
            cells += [""] * (width - len(cells))
        if len(cells) != width:
            raise ValueError(f"line {where} has {len(cells)} numbers and not {width}")
        table.append(cells)
    lines = [where for where, _ in rows]
    return np.column_stack([numbers([cells[i] for cells in table], lines, called(i)) for i in range(width)])


# ---- .trc: five lines of header, then frames of markers ------------------------------------------------------------


#: Largest distance of times from those of the frame rate, in frames, that is rounding.
ROUNDED = 0.2


def read_trc(path: Path) -> Measured:
    """Markers as columns NAME.x, NAME.y, NAME.z; blank ones are NaN, and so are those at exactly 0, 0, 0."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    if not lines or not lines[0].lstrip().startswith("PathFileType"):
        raise ValueError("it does not begin with PathFileType")
    top = next((i for i, line in enumerate(lines) if line.strip().lower().startswith("frame#")), None)
    if top is None or top < 3:
        raise ValueError("it has no line that begins with Frame# and names the markers")
    header = dict(zip(_cells(lines[top - 2]), _cells(lines[top - 1]), strict=False))
    if "Units" not in header:
        raise ValueError("its third line states no Units: m or mm")
    scale, unit = scale_of(header["Units"])
    names = unique(name for name in _cells(lines[top])[2:] if name)
    rows = [(i + 1, line) for i, line in enumerate(lines) if i > top and line.strip()]
    if rows and not _cells(rows[0][1].strip())[0].replace(".", "").isdigit():
        rows = rows[1:]  # X1, Y1, Z1, ...
    table = _numbers(
        rows,
        2 + 3 * len(names),
        lambda i: "its frame or time" if i < 2 else f"marker '{names[(i - 2) // 3]}'",
        short=True,
    )
    places = table[:, 2:].reshape(len(rows), len(names), 3)
    nowhere = (places == 0.0).all(axis=2)
    places[nowhere] = np.nan
    time, done, rate = table[:, 1], [], float(header.get("DataRate", "nan"))
    even = time[0] + (table[:, 0] - table[0, 0]) / rate
    off = float(np.abs(time - even).max() * rate)
    if off <= ROUNDED:
        time = even
        done += [f"times by {rate:g} frames per second, which the file rounds"] * (off > 1e-6)
    if nowhere.any():
        done.append(f"{int(nowhere.sum())} places at exactly 0, 0, 0 taken as gaps")
    columns = {
        f"{name}.{axis}": scale * places[:, i, k] for i, name in enumerate(names) for k, axis in enumerate("xyz")
    }
    return Measured(time, columns, dict.fromkeys(columns, unit), "y", path.name, tuple(done))


#: Names of vectors that are forces where no unit says so: F1, FP2.F, GRF_left, left_force, Force.
FORCE = re.compile(r"(^|[._/ -])(f|grf|force|ground_force_v)($|[._/ 0-9(-])|(^|[._/ -])f\d+$|force$", re.IGNORECASE)
#: Names of single columns that are vertical forces: left_Fz, load_cell_1, insole force L.
VERTICAL = re.compile(r"(^|[._/ -])(fz|vgrf|load|insole|force|grf)($|[._/ 0-9(-])|fz$|force$", re.IGNORECASE)
#: A component is taken for the vertical one if its mean is this many times that of the other candidate.
DOMINANT = 1.5


@public
def load_motion(
    path: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    *,
    up: Literal["y", "z"] | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Measured:
    """Read measured data by the ending of its file: .mot, .sto, .trc, .c3d, .csv, .tsv, .txt or .parquet.

    ``columns`` renames: ``{"heel.x": "RHEE_X"}``; a vector may be named without its axes, ``{"heel": "RHEE"}``. ``up``
    is the axis that is up, "y" or "z", where it is not that of the format. ``rate``, samples per second, gives the
    times of a table that has none. ``units`` are those of columns or vectors of a table that states none:
    ``{"heel": "mm"}``, by the names in the file.
    """
    source = Path(path).expanduser()
    readers: dict[str, Callable[[Path], Measured]] = dict.fromkeys(
        (".csv", ".tsv", ".txt", ".parquet"), partial(read_delimited, rate=rate)
    )
    readers |= {".mot": read_storage, ".sto": read_storage, ".trc": read_trc}
    found = _read(source, readers | {".c3d": partial(_read_c3d, plates_alone=False)}, up)
    if units:
        found = _in_units(found, units)
    return found.renamed(columns) if columns else found


@public
def load_forces(
    path: str | os.PathLike[str],
    feet: Mapping[str, str] | None = None,
    *,
    up: Literal["y", "z"] | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
    pressure: bool = False,
) -> Measured:
    """Read ground reaction forces: a vector ``NAME.force`` (N, z up, of the ground on the foot) for each foot or plate.

    ``feet`` says which vector of the file is the force on which foot, ``{"left": "ground_force_v"}``. If left out, all
    vectors in N are used, under their own names. Of load cells and insoles a single column is the vertical force: the
    other components are NaN, and are compared with nothing. The plates of a .c3d file keep their own rate. Vectors
    without a unit that are named like forces are taken to be in N. Unless ``up`` is given, the axis that carries the
    load is up. Forces that press down are those of the foot on the plate, and are reversed. ``done`` lists all this.
    With ``pressure`` the centre of pressure is read as well, where the file has it: ``NAME.cop``, m.
    """
    source = Path(path).expanduser()
    if source.suffix.lower() == ".c3d":
        found = _read(source, {".c3d": partial(_read_c3d, plates_alone=True)}, up)
    else:
        found = load_motion(source, up=up, rate=rate, units=units)
    found, single = _with_vertical(found, feet)
    chosen, found = _forces(found, feet)
    found = replace(found, up="z") if single else found
    found = (found if up is not None or single else _upright(found, list(chosen.values()))).z_up()
    vectors = {foot: found.vector(name) for foot, name in chosen.items()}
    with np.errstate(invalid="ignore"):
        pressed = np.nansum([np.nansum(vector[:, 2]) for vector in vectors.values()])
    done = found.done
    if pressed < 0.0:
        vectors = {foot: -vector for foot, vector in vectors.items()}
        done = (*done, "reversed: the file has the forces of the feet on the ground")
    channels = {f"{foot}.force.{axis}": own[:, k] for foot, own in vectors.items() for k, axis in enumerate("xyz")}
    of_unit = dict.fromkeys(channels, "N")
    for foot, name in chosen.items() if pressure else ():
        centre = next((one for one in _centres(name) if one in found.vectors and found.vector_unit(one) == "m"), None)
        for k, axis in enumerate("xyz" if centre else ""):
            channels[f"{foot}.cop.{axis}"], of_unit[f"{foot}.cop.{axis}"] = found.vector(centre or "")[:, k], "m"
    return Measured(found.time, channels, of_unit, "z", found.source, done)


def _with_vertical(found: Measured, feet: Mapping[str, str] | None) -> tuple[Measured, bool]:
    """The same with a vector for each vertical force that stands alone, and whether there are such."""
    asked = list(feet.values()) if feet is not None else [name for name in found.channels if VERTICAL.search(name)]
    forces = [name for name in found.vectors if found.vector_unit(name) == "N" or FORCE.search(name)]
    alone = [name for name in asked if name in found.channels and found.units[name] in ("N", "")]
    if not alone or (feet is None and forces):
        return found, False
    channels, units = dict(found.channels), dict(found.units)
    for name in alone:
        vertical = channels.pop(name)
        unit = units.pop(name)
        for axis in "xyz":
            channels[f"{name}.{axis}"] = vertical if axis == "z" else np.full(len(found), np.nan)
            units[f"{name}.{axis}"] = unit
    said = f"{', '.join(alone)} taken as vertical forces; the others were not measured"
    return replace(found, channels=channels, units=units, done=(*found.done, said)), True


def _centres(force: str) -> list[str]:
    """How the pressure centre may be named that belongs to a force: plate1.cop, ground_force_1_p, C1, COP1, or 1."""
    found = [force.replace("force", "cop"), f"{force}.cop", re.sub(r"v$", "p", force)]
    for other in ("COP", "CoP", "cop", "C", "P", "p", ""):
        found += [re.sub(word, other, force) for word in (r"(?i)grf", r"(?i)force", r"F(?=[^a-z]|$)", r"f(?=[^a-z]|$)")]
    return [one.strip("._ ") for one in found if one != force]


def _read(source: Path, readers: Mapping[str, Callable[[Path], Measured]], up: str | None) -> Measured:
    found = read_by_ending(source, readers, "a measurement", "; most programs can write a .csv")
    return found if up is None else replace(found, up=up)


def _in_units(found: Measured, units: Mapping[str, str]) -> Measured:
    """The same with units for columns or vectors that have none."""
    channels, of_unit = dict(found.channels), dict(found.units)
    for name, unit in units.items():
        try:
            scale, known = scale_of(unit, name)
        except ValueError as error:
            raise FootfallError(f"{found.source}: {error}") from None
        for one in [name] if name in channels else found.channels_of(name):
            if of_unit[one]:
                raise FootfallError(f"{found.source}: '{one}' is in {of_unit[one]} already, and not in {unit}")
            channels[one], of_unit[one] = scale * channels[one], known
    return replace(found, channels=channels, units=of_unit)


# ---- forces --------------------------------------------------------------------------------------------------------


def _forces(found: Measured, feet: Mapping[str, str] | None) -> tuple[dict[str, str], Measured]:
    """Which vector is the force on which foot, and the data in which these are in N."""
    forces = [name for name in found.vectors if found.vector_unit(name) == "N"]
    bare = [name for name in found.vectors if found.vector_unit(name) == "" and FORCE.search(name)]
    if feet is not None:
        bare = [name for name in feet.values() if found.vector_unit(name) == ""]
        chosen = dict(feet)
    else:
        names = forces or bare
        bare = [] if forces else bare
        chosen = {name.removesuffix(".force"): name for name in names}
    if not chosen:
        theirs = ", ".join(f"{name} in {found.vector_unit(name) or 'no unit'}" for name in found.vectors[:12])
        raise FootfallError(
            f"{found.source} has no force: no three columns in N whose names differ in x, y, z; its vectors are "
            f"{theirs or 'none'}; units={{NAME: 'N'}} states a unit that the file does not"
        )
    for name in chosen.values():
        if found.vector_unit(name) not in ("N", ""):
            raise FootfallError(f"'{name}' of {found.source} is in {found.vector_unit(name)}, and not in N")
    for name in bare:
        stated = re.search(r"[\[(]([^\])]+)[\])]$", name)
        if stated:
            raise FootfallError(
                f"'{name}' of {found.source} may be in '{stated[1]}', which is not known: rename its columns, as Fx [N]"
            )
    if bare:
        found = replace(
            _in_units(found, dict.fromkeys(bare, "N")),
            done=(*found.done, f"{', '.join(bare)} without a unit taken to be in N"),
        )
    return chosen, found


def _upright(found: Measured, forces: list[str]) -> Measured:
    """The same with the axis up that carries the load, where the forces leave no doubt."""
    load = np.nansum([np.abs(np.nansum(found.vector(name), axis=0)) for name in forces], axis=0)
    ours, other = (1, 2) if found.up == "y" else (2, 1)
    if load[other] > DOMINANT * load[ours] and load[other] > DOMINANT * load[0]:
        axis = "xyz"[other]
        return replace(found, up=axis, done=(*found.done, f"{axis} taken to be up, along which the forces act"))
    if load[0] > DOMINANT * max(load[1], load[2]):
        raise FootfallError(
            f"the forces of {found.source} act along x, and the axis that is up is y or z: rename its columns"
        )
    return found


# ---- C3D ---------------------------------------------------------------------------------------------------------


def _read_c3d(path: Path, plates_alone: bool) -> Measured:
    """Markers as NAME.x ..., force plates as plate1.force.x, plate1.moment.x (about its middle) and plate1.cop.x ...

    Plates sample faster: beside markers, those of their samples at the frames of the markers are kept.
    """
    file = read_c3d(path)
    columns: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}

    def put(name: str, values: np.ndarray, unit: str) -> None:
        scale, units_name = scale_of(unit, name)
        for k, axis in enumerate("xyz"):
            columns[f"{name}.{axis}"], units[f"{name}.{axis}"] = scale * values[:, k], units_name

    every = max(1, file.samples_per_frame)
    if not plates_alone:
        for i, name in enumerate(file.labels):
            put(name, file.points[:, i], file.unit)
    kept = 1 if plates_alone else every
    plates = force_plates(file)
    for i, plate in enumerate(plates, start=1):
        put(f"plate{i}.force", plate.force[::kept], plate.force_unit)
        put(f"plate{i}.moment", plate.moment[::kept], plate.moment_unit)
        put(f"plate{i}.cop", plate.cop[::kept], file.unit)
    if plates_alone and not plates:
        raise ValueError("it has no force plate: its group FORCE_PLATFORM is empty")
    count, rate = (len(file.analog), file.rate * every) if plates_alone else (len(file.points), file.rate)
    return Measured(np.arange(count) / rate, columns, units, _up_of(file), path.name)


def _up_of(file: C3D) -> str:
    """The axis that is up: that of the force plates, which point into the floor, z where there are none."""
    for plate in force_plates(file)[:1]:
        corners = plate.corners
        normal = np.abs(np.cross(corners[1] - corners[0], corners[3] - corners[0]))
        return "y" if normal[1] > normal[2] and normal[1] > normal[0] else "z"
    return "z"
