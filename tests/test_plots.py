"""Plots: every name draws what the recording says, with units, for every kind of foot."""

from __future__ import annotations

import io
import sys
from importlib import import_module

import mujoco
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

import footfall as ff
from footfall.errors import FootfallError, RecordingError
from footfall.measure.common import normal_force
from footfall.show.panels import decimated
from footfall.show.plots import FORMATS, PLOTS, over_time, panels_of, plot, save_plot
from footfall.show.style import COLORS, MODES

PUSH = ff.Push("trunk", force=(60.0, 25.0, 0.0), start=0.1, duration=0.1)


@pytest.fixture(scope="module")
def pushed():
    ground = ff.Ground.plane(friction=(0.8, 0.6))
    laws = ("spring-damper", "linearizing-penalty")
    return [
        ff.Simulation("spatial-biped", law=law, ground=ground).run(0.6, controller="posture", pushes=[PUSH])
        for law in laws
    ]


@pytest.fixture(scope="module")
def ball():
    sim = ff.Simulation("ball", law="hunt-crossley")
    qpos = sim.place()
    qpos[2] += 0.05
    return sim.run(0.3, qpos=qpos)


def lines(figure, panel=0):
    return {line.get_label(): line.get_xydata() for line in figure.axes[panel].get_lines()}


def ink(figure, *, laid_out=False):
    """Which part of a figure is not paper, drawn as in a window, or with bare panels where they happen to be."""
    if not laid_out:  # a quarter of the time
        figure.set_layout_engine("none")
        for ax in figure.axes:
            ax.set_axis_off()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return (np.asarray(canvas.buffer_rgba())[..., :3].sum(axis=2, dtype=np.int32) < 3 * 200).mean()


def test_zero_moment_points_of_several_recordings_lie_between_the_limits_of_their_supports(pushed):
    figure = plot(pushed, "pressure")
    assert "Zero moment points with the limits" in figure.get_suptitle()
    for axis, panel in enumerate(panels_of("pressure", dict(zip("ab", pushed, strict=True)))):
        assert [band.run for band in panel.bands] == [curve.run for curve in panel.curves] == [0, 1]
        for band, curve in zip(panel.bands, panel.curves, strict=True):
            within = (band.low <= curve.values) & (curve.values <= band.high)
            assert within[50:100].all()  # it has come to rest, and the push has not begun
        assert len(figure.axes[axis].collections) >= 2


@pytest.fixture(scope="module")
def centipede():
    """Twelve legs with names as long as those of some models."""
    leg = '<body name="a_leg_of_a_machine_with_a_long_name_{0}" pos="{0} 0 -0.2"><geom size="0.02" mass="1"/>{1}</body>'
    legs = "".join(leg.format(i, '<joint type="slide" axis="0 0 1" stiffness="1e4"/>') for i in range(12))
    trunk = f'<body pos="0 0 0.3"><freejoint/><geom type="box" size="1 0.1 0.05" mass="10"/>{legs}</body>'
    model = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{trunk}</worldbody></mujoco>")
    return ff.Simulation(ff.load_robot(model), law="spring-damper").run(0.02)


def test_feet_of_one_recording_are_told_apart(centipede):
    """There are four colours of feet: the fifth foot was drawn as the first."""
    curves = panels_of("grf", {"": centipede})[0].curves
    looks = {(curve.color, curve.dash) for curve in curves}
    assert len(looks) == len(curves) == 13  # with the sum


def test_a_long_legend_and_many_soles_have_room(centipede):
    figure = plot(centipede, "grf")
    FigureCanvasAgg(figure).draw()
    legend = figure.legends[0].get_window_extent()
    assert legend.y0 >= 0.0
    assert all(ax.get_window_extent().y0 > legend.y1 and ax.get_window_extent().height > 40 for ax in figure.axes)
    titles = [title for ax in plot(centipede, "cop").axes if (title := ax.get_title(loc="left"))]
    assert len(titles) == 12 and all(len(title) < 20 for title in titles)


def test_a_single_sample_is_a_dot():
    """Also one between two gaps: a line through it has no length, and drew nothing."""
    rec = ff.Simulation("quadruped").run(0.0)
    for ax in plot(rec, "grf").axes[:3]:
        dots = [line for line in ax.get_lines() if line.get_marker() == "."]
        assert len(dots) == 5  # four feet and their sum
    assert any(line.get_ydata() == [rec.total_force[0, 2]] for line in plot(rec, "grf").axes[0].get_lines())


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("count", [1, 2])
def test_every_plot_draws_one_recording_and_several(pushed, name, count):
    figure = pushed[0].plot(name) if count == 1 else plot(pushed, name)
    units = {"friction": "force ratio", "modes": "(s)"}
    labels = [ax.get_ylabel() + ax.get_xlabel() for ax in figure.axes]
    assert any(units.get(name, "(") in label for label in labels)
    assert 0.001 < ink(figure, laid_out=count == 1) < 0.5
    if count == 1:
        title = figure.get_suptitle()
        assert title.startswith(PLOTS[name].about.capitalize()) and "spatial-biped under spring-damper" in title


@pytest.mark.parametrize("name", sorted(set(PLOTS) - {"tracking", "torque"}))
def test_a_point_foot_and_a_robot_without_actuators_can_be_drawn(ball, name):
    assert 0.001 < ink(ball.plot(name)) < 0.5


def test_joints_of_a_robot_without_actuators_are_told(ball):
    with pytest.raises(RecordingError, match="ball has no actuated joints"):
        ball.plot("torque")


def test_feet_that_are_lines_and_many_points_can_be_drawn():
    """In the plots that show soles and points; the others know nothing of them."""
    planar = ff.Simulation("planar-biped").run(0.05)
    robot = ff.load_robot("spatial-biped", points=(3, 4))
    many = ff.Simulation(robot).run(0.05, controller="posture")
    for rec, names in (
        (planar, ("grf", "modes", "pressure", "cop")),
        (many, ("normal", "friction", "penetration", "heights", "modes", "cop")),
    ):
        for name in names:  # bars of 24 points are dense
            assert 0.001 < ink(rec.plot(name)) < 0.8, name


def test_grf_shows_the_forces_of_the_recording(pushed):
    rec = pushed[0]
    drawn = lines(rec.plot("grf"))
    assert drawn["left"][:, 0] == pytest.approx(rec.time)
    assert drawn["left"][:, 1] == pytest.approx(rec.foot_force[:, 0, 2])
    assert drawn["total"][:, 1] == pytest.approx(rec.total_force[:, 2])
    overlaid = lines(plot({"a": rec, "b": pushed[1]}, "grf"))
    assert overlaid["b"][:, 1] == pytest.approx(pushed[1].total_force[:, 2])


def test_the_most_loaded_point_of_each_foot_is_drawn(pushed):
    rec = pushed[0]
    drawn = lines(rec.plot("normal"))
    assert drawn["right"][:, 1] == pytest.approx(normal_force(rec)[:, rec.foot("right")].max(axis=1))


def test_friction_stays_below_the_lines_that_are_drawn(pushed):
    figure = plot(pushed, "friction")
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"static friction", "dynamic friction", "push"} <= set(named)
    for drawn in lines(figure).values():
        assert np.nanmax(drawn[:, 1]) <= 0.8 + 1e-9


def test_cop_lies_on_the_sole(pushed):
    rec = pushed[1]
    figure = rec.plot("cop")
    path = figure.axes[0].collections[0]
    places = np.asarray(path.get_offsets().compressed()).reshape(-1, 2)
    sole = 1e3 * rec.robot.feet[0].polygon
    assert places[:, 1].min() >= sole[:, 0].min() - 1e-6
    assert places[:, 1].max() <= sole[:, 0].max() + 1e-6
    assert path.get_array()[0] == rec.time[0]


def test_every_plot_has_its_function_and_says_what_it_draws():
    functions = {function.__name__: function for function in (over_time.grf, over_time.tracking, over_time.modes)}
    for name, one in PLOTS.items():
        draw = getattr(import_module(f"footfall.show.plots.{one.module}"), name)
        assert draw.__doc__
        assert one.about
        assert functions.get(name, draw) is draw
    assert len({one.about for one in PLOTS.values()}) == len(PLOTS)


def test_tracking_shows_what_a_servo_aims_at():
    robot = ff.load_robot("spatial-biped", actuators="position")
    rec = ff.Simulation(robot).run(0.05)
    figure = rec.plot("tracking")
    knee = next(i for i, ax in enumerate(figure.axes) if ax.get_title(loc="left") == "knee pitch")
    drawn = lines(figure, knee)
    joint = robot.model.joint("left_knee_pitch")
    assert drawn["left"][:, 1] == pytest.approx(rec.qpos[:, joint.qposadr[0]])
    assert drawn["reference"][:, 1] == pytest.approx(robot.home[joint.qposadr[0]])


def test_tracking_shows_the_posture_that_a_controller_holds(pushed):
    rec = pushed[1]
    figure = rec.plot("tracking")
    knee = next(i for i, ax in enumerate(figure.axes) if ax.get_title(loc="left") == "knee pitch")
    joint = rec.robot.model.joint("left_knee_pitch")
    assert lines(figure, knee)["reference"][:, 1] == pytest.approx(rec.qpos[0, joint.qposadr[0]])


def test_pushes_are_bands(pushed):
    for ax in pushed[0].plot("grf").axes[:3]:
        (band,) = [patch for patch in ax.patches if patch.get_label() == "push"]
        assert (band.get_x(), band.get_width()) == pytest.approx((PUSH.start, PUSH.duration))


def test_feet_and_modes_share_no_colour(pushed):
    drawn = {line.get_label(): line.get_color() for line in pushed[0].plot("grf").axes[0].get_lines()}
    assert not {drawn["left"], drawn["right"]} & set(MODES)


def test_modes_cover_the_time_in_the_colours_of_the_view(ball):
    figure = ball.plot("modes")
    bars = {}
    for collection in figure.axes[0].collections:
        color = (
            tuple(np.round(255 * collection.get_facecolor()[0][:3]).astype(int)) if len(collection.get_paths()) else ()
        )
        bars[color] = sum(np.ptp(path.vertices[:, 0]) for path in collection.get_paths())
    assert sum(bars.values()) == pytest.approx(ball.duration)
    stick = tuple(int(MODES[1][i : i + 2], 16) for i in (1, 3, 5))
    assert bars[stick] == pytest.approx((ball.mode == 1).sum() * ball.dt, abs=2 * ball.dt)


def test_an_interval_is_cut_out(pushed):
    drawn = lines(pushed[0].plot("grf", start=0.2, stop=0.4))["left"]
    assert (drawn[0, 0], drawn[-1, 0]) == pytest.approx((0.2, 0.399))
    with pytest.raises(RecordingError, match="no samples"):
        pushed[0].plot("grf", start=5.0)


def test_long_recordings_keep_their_peaks_and_little_else(pushed, monkeypatch):
    rec = pushed[0]
    monkeypatch.setattr("footfall.show.plots.drawing.SAMPLES", 100)
    drawn = lines(rec.plot("grf"))["total"]
    assert len(drawn) < 150
    assert drawn[:, 1].max() == rec.total_force[:, 2].max()


def test_colours_are_told_apart_without_red_and_green_sense():
    """Under deuteranopia (Viénot, Brettel and Mollon 1999) any two of the first six stay apart."""
    matrix = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])
    seen = [matrix @ [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in COLORS[:6]]
    apart = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(apart) > 0.1


# ---- sentences ---------------------------------------------------------------------------------------------


def test_an_unknown_plot_is_told_with_the_nearest_name(ball):
    with pytest.raises(FootfallError, match="no plot is called 'grff': did you mean 'grf'"):
        ball.plot("grff")


@pytest.mark.parametrize("ending", FORMATS)
def test_figures_are_saved_by_their_ending(ball, ending, tmp_path):
    """A picture is as drawn, and not a small one."""
    path = save_plot(ball.plot("energy"), tmp_path / "new" / f"e{ending}")
    head = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(head)
    if ending == ".png":
        picture = np.asarray(Image.open(path).convert("L"))
        assert picture.shape[1] >= 1300
        assert (picture < 200).mean() == pytest.approx(ink(ball.plot("energy"), laid_out=True), rel=0.3)


def test_a_notebook_shows_a_figure_as_a_picture_though_pyplot_has_not_made_it(ball):
    """It was a line of text: Matplotlib teaches notebooks to draw figures when it makes the first one itself."""
    figure = ball.plot("grf", size=(4.0, 3.0))
    with Image.open(io.BytesIO(figure._repr_png_())) as picture:
        assert picture.size == (round(4.0 * figure.dpi), round(3.0 * figure.dpi))


def test_other_endings_and_places_are_refused(ball, tmp_path):
    figure = ball.plot("energy")
    with pytest.raises(FootfallError, match=r"ends in \.png, \.svg, \.pdf"):
        save_plot(figure, tmp_path / "e.gif")
    (tmp_path / "file").write_text("")
    with pytest.raises(FootfallError, match="cannot write the plot"):
        save_plot(figure, tmp_path / "file" / "e.png")


def test_a_missing_matplotlib_says_what_to_install(ball, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(FootfallError, match=r'pip install "footfall\[plot\]"'):
        ball.plot("grf")


def test_pressure_centres_have_gaps_in_flight(ball):
    """Dropped from 5 cm, it flies for 0.1 s and bounces: there is a centre of pressure where it touches only."""
    touching = (ball.mode != 0).any(axis=1)
    assert touching.any() and not touching.all()
    drawn = lines(ball.plot("pressure"))
    assert np.array_equal(np.isfinite(drawn["CoP"][:, 1]), touching)
    assert not np.isfinite(drawn["ZMP"][~touching, 1]).any()
    (curve,) = [c for c in panels_of("pressure", {"ball": ball})[0].curves if c.name == "CoP"]
    kept = curve.values[decimated(curve.values, 40)]
    flights = np.count_nonzero(np.diff(np.isfinite(curve.values).astype(int)) == -1)
    assert np.count_nonzero(np.diff(np.isfinite(kept).astype(int)) == -1) == flights  # no line across a flight


def test_curves_that_coincide_are_all_seen(pushed):
    """Later ones are thinner and every second dashed; of one recording the first foot is wider than the second."""
    twice = plot({"a": pushed[0], "b": pushed[0], "c": pushed[0]}, "grf").axes[0].get_lines()
    drawn = [line for line in twice if line.get_label() in "abc"]
    widths = [line.get_linewidth() for line in drawn]
    assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert [line.get_linestyle() for line in drawn] == ["-", "--", "-"]
    left, right = (line for line in pushed[0].plot("grf").axes[0].get_lines() if line.get_label() in ("left", "right"))
    assert left.get_linewidth() > right.get_linewidth()
