"""Ctrl-C ends a run soon, wherever it is, and nothing that was recorded is lost."""

from __future__ import annotations

import math
import os
import signal
import threading
import time

import numpy as np
import pytest

import footfall as ff
from footfall.engine.worlds.threads import Team
from footfall.simulation import run as run_module
from footfall.simulation.run import Run
from footfall.simulation.workspace import Workspace

BIPED = ff.load_robot("spatial-biped")


#: s, so long that a machine that is busy takes all steps it is asked for, too.
ENDLESS = 3600.0


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def check(rec: ff.Recording, last: float) -> None:
    """All samples up to the interruption are there, and they are those of a run that is left alone."""
    assert rec.failure.cause == "interrupted"
    np.testing.assert_allclose(rec.time, 1e-3 * np.arange(len(rec)), atol=1e-9)
    assert rec.time[-1] == pytest.approx(last, abs=1.1e-3)
    assert np.isfinite(rec.qpos).all() and rec.force.any()


def test_the_loop_comes_back_often_enough():
    assert run_module.CHECK_INTERVAL <= 0.1


def test_ctrl_c_before_the_first_check_ends_the_run_with_its_recording(monkeypatch):
    """No handler is installed yet: Python raises it as soon as the loop returns."""
    advance = Run.advance

    def pressed(self, steps, seconds):
        more = advance(self, 5, ENDLESS)
        press()
        return more

    monkeypatch.setattr(Run, "advance", pressed)
    with pytest.raises(ff.errors.Interrupted, match=r"interrupted at t = 0\.005 s") as caught:
        ff.Simulation(BIPED).run(1.0, controller=None)
    check(caught.value.recording, 0.005)


def test_ctrl_c_in_compiled_code_ends_the_run_with_its_recording(monkeypatch):
    """Pressed by another thread once the loop has been in compiled code, where the run would stay for hours."""
    advance, pressing = Run.advance, []

    def advanced(self, steps, seconds):
        more = advance(self, steps, seconds)
        if not pressing:
            pressing.append(threading.Timer(0.01, press))
            pressing[0].start()
        return more

    sim = ff.Simulation("ball")
    monkeypatch.setattr(Run, "advance", advanced)
    with pytest.raises(ff.errors.Interrupted, match="interrupted at t = ") as caught:
        sim.run(1e6, record_dt=1.0)
    rec = caught.value.recording
    assert rec.failure.cause == "interrupted" and 0.0 < rec.failure.time < 1e6
    assert len(rec) == math.ceil(rec.failure.time - 1e-9)  # one for each second that has begun
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_is_a_keyboard_interrupt_and_no_exception():
    assert issubclass(ff.errors.Interrupted, KeyboardInterrupt) and not issubclass(ff.errors.Interrupted, Exception)


def at(moment: float, do, then=lambda: np.zeros(14)):
    def controller(t, state):
        if t >= moment - 1e-9:
            do()
            return then()
        return np.zeros(14)

    return controller


def raise_it():
    raise KeyboardInterrupt


def swallow():
    try:
        press()
        time.sleep(30.0)
    except KeyboardInterrupt:
        pass


@pytest.mark.parametrize("how", [press, raise_it, swallow])
def test_ctrl_c_in_a_controller_ends_the_run_with_its_recording(how):
    with pytest.raises(ff.errors.Interrupted, match=r"interrupted at t = 0\.01 s") as caught:
        ff.Simulation(BIPED).run(1.0, controller=at(0.01, how))
    check(caught.value.recording, last=0.009)


def test_ctrl_c_ends_a_controller_that_would_never_return():
    def endless():
        threading.Timer(0.2, press).start()
        while True:
            time.sleep(0.01)

    with pytest.raises(ff.errors.Interrupted):
        ff.Simulation(BIPED).run(1.0, controller=at(0.01, endless))


def test_ctrl_c_between_two_calls_of_a_controller_is_not_lost(monkeypatch):
    """An exception there would be lost, since compiled code cannot pass it on."""

    def note(self, number=2, frame=None):
        self.asked = True

    monkeypatch.setattr(run_module.Interrupts, "_note", note)
    calls = []

    def controller(t, state):
        calls.append(t)
        if len(calls) == 6:
            press()
        return np.zeros(14)

    with pytest.raises(ff.errors.Interrupted) as caught:
        ff.Simulation(BIPED).run(1.0, controller=controller)
    assert len(calls) == 6
    check(caught.value.recording, last=0.005)


def test_a_coarse_recording_keeps_the_mean_of_the_steps_that_were_taken():
    with pytest.raises(ff.errors.Interrupted) as caught:
        ff.Simulation(BIPED).run(1.0, controller=at(0.015, press), record_dt=0.01)
    rec = caught.value.recording
    np.testing.assert_allclose(rec.time, [0.0, 0.01], atol=1e-12)
    fine = ff.Simulation(BIPED).run(0.015, controller=lambda t, state: np.zeros(14))
    np.testing.assert_allclose(rec.total_force[1], fine.total_force[10:15].mean(axis=0), rtol=1e-12)


def test_a_handler_of_the_user_stays_at_work():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        rec = ff.Simulation(BIPED).run(0.02, controller=at(0.01, press))
    finally:
        signal.signal(signal.SIGINT, before)
    assert rec.failure is None and seen


def test_runs_in_threads_are_left_alone():
    found = []
    thread = threading.Thread(target=lambda: found.append(ff.Simulation("ball").run(0.05)))
    thread.start()
    thread.join()
    assert found[0].failure is None


def test_the_command_saves_what_was_recorded(monkeypatch, tmp_path, capsys):
    from footfall.cli import main

    advance = Run.advance

    def pressed(self, *arguments):
        more = advance(self, *arguments)
        if self.total > 100:
            press()
        return more

    monkeypatch.setattr(Run, "advance", pressed)
    assert main(["run", "ball", "--duration", "1e5", "--record-dt", "0.5", "--out", str(tmp_path / "kept")]) == 130
    assert "interrupted at t = " in capsys.readouterr().err
    rec = ff.load_recording(tmp_path / "kept")
    assert rec.failure.cause == "interrupted" and len(rec) >= 1


def test_a_signal_whose_exception_was_lost_before_the_run_ends_it(monkeypatch):
    monkeypatch.setattr("footfall.process.interrupts._noted", [2])
    with pytest.raises(ff.errors.Interrupted):
        ff.Simulation(BIPED).run(1e4, controller=None, record_dt=1.0)


# ---- worlds in loops of the user's own ---------------------------------------------------------------------------


def test_a_world_with_a_python_controller_hears_ctrl_c_and_can_go_on():
    """Pressed in a call of the controller, and between two, where an exception would be lost in compiled code."""
    calls = []

    def controller(t, state):
        calls.append(t)
        if len(calls) == 4:
            press()
        return np.zeros(14)

    world = ff.Simulation(BIPED).start(controller=controller)
    after = world._run.controls.callback.after
    world._run.controls.callback.after = lambda: press() if len(calls) == 8 else after()
    for last in (0.003, 0.006):
        with pytest.raises(ff.errors.Interrupted, match=f"interrupted at t = {last}"):
            world.step(n=100)
        assert world.time == pytest.approx(last) and world.status == 0 and world.failure is None
    world.step(n=4)
    np.testing.assert_allclose(world.record().time, 1e-3 * np.arange(10), atol=1e-12)


def test_a_world_hears_ctrl_c_in_a_step_call_that_would_take_days(monkeypatch):
    """The loop comes back between two checks; pressed there, it ends the call."""
    world, advance, limits = ff.Simulation("ball").start(recorded=False), Run.advance, []

    def advanced(self, steps, seconds):
        more = advance(self, 100, ENDLESS)
        limits.append(seconds)
        if len(limits) == 2:
            press()
        return more

    monkeypatch.setattr(Run, "advance", advanced)
    with pytest.raises(ff.errors.Interrupted):
        world.step(n=10**12)
    monkeypatch.undo()
    assert limits == [run_module.CHECK_INTERVAL] * 2 and world.time == pytest.approx(0.2)
    world.step()
    assert world.time == pytest.approx(0.201)


def test_ctrl_c_while_a_world_makes_room_leaves_no_arrays_too_small(monkeypatch):
    """The loop would write beyond the samples that it has."""
    world = ff.Simulation("ball").start()
    laid_out = Workspace.laid_out

    def pressed(self, tape):
        press()
        return laid_out(self, tape)

    monkeypatch.setattr(Workspace, "laid_out", pressed)
    with pytest.raises(KeyboardInterrupt):
        world.step(n=100)
    monkeypatch.undo()
    run = world._run
    assert run._laid_out[0].tape.named is run.tape and world.time == 0.0
    world.step(n=100)
    assert len(world.record()) == 100


def test_no_steps_from_a_restored_state_are_none():
    world = ff.Simulation("ball").start()
    state = world.state()
    world.step(n=7)
    world.restore(state)
    world.step(n=0)
    assert world.time == 0.0


@pytest.mark.parametrize("threads", [1, 2])
def test_many_worlds_hear_ctrl_c_after_some_steps_and_can_go_on(monkeypatch, threads):
    worlds, share = ff.Worlds(ff.Simulation("ball"), 4, threads=threads), Team.share

    def pressed(self, *arguments):
        share(self, *arguments)
        press()

    monkeypatch.setattr(Team, "share", pressed)
    with pytest.raises(KeyboardInterrupt):
        worlds.step(n=10**9)
    monkeypatch.undo()
    steps = worlds._engine.first("step")
    before = steps.copy()
    assert (before > 0).all() and (before < 10**6).all()
    worlds.step(n=3)
    assert (steps == before + 3).all()
