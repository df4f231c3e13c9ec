"""What is no recording, or none any more, is refused in a sentence."""

from __future__ import annotations

import base64
import copy
import json
import math
import os
import shutil
import zlib

import numpy as np
import pyarrow.parquet as pq
import pytest
from blank_recordings import blank

from footfall.errors import RecordingError
from footfall.record import Push
from footfall.recording import load_recording
from footfall.recording_file import file_digest, text_of, write_samples
from footfall.robot import load_robot


@pytest.fixture
def saved(rec, tmp_path):
    return rec.save(tmp_path / "walk")


def edit(folder, **changes):
    """Change a manifest and sign it anew: what a stranger can do."""
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(text_of(content | changes, file_digest(folder / "samples.parquet")))


def groups_with(folder, change):
    groups = json.loads((folder / "manifest.json").read_text())["groups"]
    change(groups)
    edit(folder, groups=groups)


def robot_with(folder, **changes):
    content = json.loads((folder / "manifest.json").read_text())
    edit(folder, robot=content["robot"] | changes)


def model_with(folder, text, section="worldbody"):
    mjcf = json.loads((folder / "manifest.json").read_text())["robot"]["mjcf"]
    robot_with(folder, mjcf=mjcf.replace(f"<{section}>", f"<{section}>{text}", 1))


def ground_with(folder, **changes):
    edit(folder, ground={"kind": "heightfield", "size": [4, 4], "dynamic_friction": 0.7, **changes})


def packed_zeros(megabytes):
    """A thousand times as many zeros as this takes."""
    return base64.b64encode(zlib.compress(bytes(megabytes * 2**20), 9)).decode()


def flip_a_bit(folder):
    path = folder / "samples.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def swap_samples(folder):
    path = folder / "samples.parquet"
    table = pq.read_table(path)
    pq.write_table(
        table.set_column(table.schema.get_field_index("gap"), "gap", table["gap"].take(list(range(49, -1, -1)))), path
    )


def shuffle_times(folder):
    rec = load_recording(folder)
    rec.__dict__["time"] = rec.time[::-1]
    edit(folder, groups=write_samples(rec, folder / "samples.parquet"))


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1000])


DAMAGE = {
    "gone": (shutil.rmtree, "there is no recording '.*walk'"),
    "a file": (lambda f: (shutil.rmtree(f), f.write_text("")), "walk' is a file; a recording is a directory"),
    "no manifest": (
        lambda f: (f / "manifest.json").unlink(),
        "walk' is not a recording: it has no manifest.json",
    ),
    "broken manifest": (lambda f: truncate(f / "manifest.json"), "manifest.json' is damaged: .*line"),
    "not text": (
        lambda f: (f / "manifest.json").write_bytes(b"\xff\xfe"),
        "manifest.json' is damaged: .*utf-8",
    ),
    "not an object": (
        lambda f: (f / "manifest.json").write_text("[]"),
        "is not a recording: .* 'footfall-recording'",
    ),
    "foreign": (lambda f: edit(f, format="x"), "its manifest.json does not say 'footfall-recording'"),
    "newer": (lambda f: edit(f, version=4), "has format version 4: this Footfall reads 3"),
    "no robot": (
        lambda f: edit(f, robot={}),
        "manifest of the recording .* damaged: this is not a description of a robot",
    ),
    "bad ground": (lambda f: edit(f, ground={"kind": "sea"}), "damaged: no ground is called 'sea'"),
    "bad law": (lambda f: edit(f, law={}), "damaged: KeyError: 'name'"),
    "no law": (lambda f: edit(f, law=None), "damaged: its 'law' is None and no object"),
    "a law without a name": (lambda f: edit(f, law={"name": 3}), "its 'name' is 3 and no name of a law"),
    "a step without end": (lambda f: edit(f, dt=math.inf), "damaged: its 'dt' is inf and no step in s"),
    "no step": (lambda f: edit(f, dt=0), "damaged: its 'dt' is 0 and no step in s"),
    "a step of text": (lambda f: edit(f, dt="1"), "damaged: its 'dt' is '1' and no step"),
    "endless samples": (lambda f: edit(f, samples=math.inf), "its 'samples' is inf and no number of things"),
    "half a sample": (lambda f: edit(f, samples=49.5), "its 'samples' is 49.5 and no number of things"),
    "minus one sample": (lambda f: edit(f, samples=-1), "its 'samples' is -1 and no number of things"),
    "more samples than memory": (lambda f: edit(f, samples=2**39), "samples.parquet' take .* GiB, and this machine"),
    "a signal of nothing": (
        lambda f: edit(f, signals={"a": [-1]}),
        "its 'signals' are {'a': \\[-1\\]} and no numbers of things",
    ),
    "info is a list": (lambda f: edit(f, info=[]), "its 'info' is .* and no object"),
    "pushes are a number": (lambda f: edit(f, pushes=3), "damaged: TypeError"),
    "a short home": (lambda f: robot_with(f, home=[0.0, 1.0]), "home of spatial-biped must be 21 finite numbers"),
    "a home that is not finite": (lambda f: robot_with(f, home=[math.nan] * 21), "must be 21 finite numbers"),
    "a foot on no body": (
        lambda f: robot_with(f, feet=[{"name": "l", "body": "x", "polygon": [], "points": [[0, 0, 0]], "radius": [0]}]),
        "foot 'l' is on the body 'x', which the model does not have",
    ),
    "another file": (lambda f: model_with(f, '<include file="/etc/hostname"/>'), "has an element <include>"),
    "a mesh outside": (
        lambda f: robot_with(f, mjcf='<mujoco><asset><mesh name="a" file="/tmp/a.stl"/></asset></mujoco>'),
        "reads the file '/tmp/a.stl', which is not inside the recording",
    ),
    "a folder outside": (
        lambda f: robot_with(f, mjcf='<mujoco><compiler meshdir="/tmp"/></mujoco>'),
        "in the folder '/tmp', which is not inside",
    ),
    "a library": (
        lambda f: robot_with(f, mjcf='<mujoco><extension><plugin plugin="x"/></extension></mujoco>'),
        "has an element <extension>",
    ),
    "a billion geoms": (
        lambda f: model_with(f, '<replicate count="1000000000"><geom size="1"/></replicate>'),
        "has an element <replicate>",
    ),
    "an endless model": (
        lambda f: robot_with(f, mjcf='<mujoco><size memory="900T"/></mujoco>'),
        "its model asks for a memory of 900T",
    ),
    "a huge field in the model": (
        lambda f: robot_with(
            f, mjcf='<mujoco><asset><hfield name="a" nrow="40000" ncol="40000" size="1 1 1 1"/></asset></mujoco>'
        ),
        "has a hfield of 40000 x 40000 entries",
    ),
    "entities": (lambda f: robot_with(f, mjcf='<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>'), "has a document type"),
    "a huge ground": (
        lambda f: ground_with(f, heights={"shape": [40000, 40000], "zlib_base64_float64": packed_zeros(1)}),
        "a height table of 40000 x 40000 entries is too large: at most 33554432; thin it out",
    ),
    "a ground that unpacks to more": (
        lambda f: ground_with(f, heights={"shape": [2, 2], "zlib_base64_float64": packed_zeros(8)}),
        "the height table cannot be read",
    ),
    "an endless ground": (
        lambda f: ground_with(f, heights=[[0, 1], [0, math.inf]]),
        r"heights must be finite, got inf at \[1, 1\]",
    ),
    "nested too deep": (
        lambda f: (f / "manifest.json").write_text('{"info": ' + "[" * 200_000 + "]" * 200_000 + "}"),
        "manifest.json' is damaged: .*recursion",
    ),
    "a link": (
        lambda f: ((f / "samples.parquet").rename(f / "x"), (f / "samples.parquet").symlink_to("x")),
        "a recording reads only its own files",
    ),
    "a pipe": (
        lambda f: ((f / "samples.parquet").unlink(), os.mkfifo(f / "samples.parquet")),
        "a recording reads only its own files",
    ),
    "an edited manifest": (
        lambda f: (f / "manifest.json").write_text(
            (f / "manifest.json").read_text().replace('"dt": 0.001', '"dt": 0.01')
        ),
        "was changed after it was saved",
    ),
    "samples of another run": (swap_samples, "are damaged: they are not those that were saved"),
    "times that go back": (shuffle_times, "their times do not follow each other"),
    "bad failure": (lambda f: edit(f, failure={"when": 1}), "damaged: Failure has no argument 'when'"),
    "no samples": (lambda f: (f / "samples.parquet").unlink(), "walk' has no samples.parquet"),
    "truncated": (lambda f: truncate(f / "samples.parquet"), "samples.parquet' are damaged"),
    "a flipped bit": (flip_a_bit, "samples.parquet' are damaged"),
    "a missing column": (
        lambda f: groups_with(f, lambda groups: groups[0][1].pop("gap")),
        "samples.parquet' have no column 'gap'",
    ),
    "a page that is elsewhere": (
        lambda f: groups_with(f, lambda groups: groups[0][1].update(gap=groups[0][1]["mode"])),
        "damaged: ValueError: a page does not hold the numbers of its column",
    ),
    "a page of something else": (
        lambda f: groups_with(f, lambda groups: groups[0][1].update(gap=[0, 100])),
        "damaged: ValueError: a page cannot be unpacked",
    ),
    "other samples": (
        lambda f: edit(f, samples=49),
        "do not fit the manifest: there are 50, not 49",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_in_one_sentence(kind, saved):
    damage, sentence = DAMAGE[kind]
    damage(saved)
    with pytest.raises(RecordingError, match=sentence) as caught:
        load_recording(saved)
    assert "\n" not in str(caught.value)


def leaves(value, path=()):
    """Every place in nested lists and mappings."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from leaves(one, (*path, key))


def test_a_manifest_with_anything_in_any_place_is_a_sentence_or_a_recording(tmp_path):
    """The samples beside it stay as they are."""
    folder = blank(
        load_robot("ball"), 3, signals={"a": np.zeros((3, 2))}, pushes=(Push("ball", force=(1, 0, 0)),)
    ).save(tmp_path / "ball")
    whole = json.loads((folder / "manifest.json").read_text())
    samples = whole.pop("checksums")["samples"]
    odd = [None, True, -1, 0, 1.5, math.inf, math.nan, 1e300, 10**30, "", "x", "../../x", [], [[]], {}, {"name": []}]
    refused = 0
    for i, place in enumerate(leaves(whole)):
        for value in odd[i % 12 :: 12]:
            inner = content = copy.deepcopy(whole)
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            (folder / "manifest.json").write_text(text_of(content, samples))
            try:
                load_recording(folder)
            except RecordingError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused > 100
