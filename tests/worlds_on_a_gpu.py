"""Programs that compare worlds and kernels of a GPU, real or simulated, with those of the CPU: each prints JSON."""

from __future__ import annotations

PROGRAM = """
import json, sys
import numpy as np
import footfall as ff

law, simulated = sys.argv[1], sys.argv[2] == "simulated"
robot, count, steps = ("brick", 2, 4) if simulated else ("spatial-biped", 64, 1000)
sim = ff.Simulation(robot, law=law)
rng = np.random.default_rng(0)
qpos = np.repeat(sim.place()[None], count, axis=0)
qpos[:, 2] += rng.uniform(0.0, 0.01, count) * np.arange(count)
qvel = np.zeros((count, sim.robot.model.nv))
qvel[:, 0] = 0.3 * simulated
controller = None if simulated else "posture"
worlds = [ff.Worlds(sim, count, device=device, qpos=qpos, qvel=qvel) for device in ("cpu", "cuda")]
recordings = [one.run(steps * sim.dt, controller=controller, record=[1])[1] for one in worlds]
cpu, gpu = worlds
worst = {"qpos": float(np.abs(gpu._engine.host("qpos") - cpu.qpos).max())}
worst["recording"] = float(np.abs(recordings[0].qpos - recordings[1].qpos).max())
worst["force"] = float(cpu.force[:, :, 2].sum(axis=1).max())
gpu.step(gpu.ctrl if not simulated else None, n=0)  # controls that are on the GPU stay there
gpu.reset(np.arange(count) == 0)
worst["reset"] = float(np.abs(gpu._engine.host("qpos")[0] - qpos[0]).max())
worst["kept"] = float(np.abs(gpu._engine.host("qpos")[1] - cpu.qpos[1]).max())
worst["unsolved"] = int(gpu.unsolved.sum())
print(json.dumps(worst))
"""

TUMBLING = """
import json, sys
import numpy as np
import footfall as ff

sim = ff.Simulation("brick", law=ff.law(json.loads(sys.argv[1])), body_contacts=False)
qpos, qvel = sim.place()[None], np.array([[0.4, -0.2, 0.0, 1.5, 1.0, 0.5]])
worlds = [ff.Worlds(sim, 1, device=device, qpos=qpos, qvel=qvel, fall=0.0) for device in ("cpu", "cuda")]
cpu, gpu = worlds
worst, forces, slid = 0.0, 0.0, False
for _ in range(int(sys.argv[2])):
    for one in worlds:
        one.step(n=2)
    worst = max(worst, float(np.abs(gpu.read("qpos") - cpu.qpos).max()))
    slid = slid or bool((cpu.mode == 2).any())
    forces = max(forces, float(cpu.force[:, :, 2].sum(axis=1).max()))
unsolved = int(gpu.unsolved.sum())
print(json.dumps({"worst": worst, "slid": slid, "force": forces, "unsolved": unsolved}))
"""

ON_EDGE = """
import json
import numpy as np
import footfall as ff

sim = ff.Simulation("brick", law="constraint-selection", body_contacts=False)
(length, _, height), turn = sim.robot.model.geom_size[0], 0.3
qpos, qvel = sim.place()[None].copy(), np.array([[0.1, 0.5, 0.0, 0.2, 0.5, 1.0]])
qpos[0, 2] = length * np.sin(turn) + height * np.cos(turn)
qpos[0, 3:7] = np.cos(turn / 2), 0.0, np.sin(turn / 2), 0.0
cpu, gpu = (ff.Worlds(sim, 1, device=device, qpos=qpos, qvel=qvel, fall=0.0) for device in ("cpu", "cuda"))
speed, force, sliding = 0.0, 0.0, []
for _ in range(3):
    for one in (cpu, gpu):
        one.step(n=1)
    speed = max(speed, float(np.abs(gpu.read("qvel") - cpu.qvel).max()))
    force = max(force, float(np.abs(gpu.read("force") - cpu.force).max() / np.abs(cpu.force).max()))
    sliding.append(int((cpu.mode == 2).sum()))
print(json.dumps({"speed": speed, "force": force, "sliding": sliding}))
"""

ROLLING = """
import json, sys
import numpy as np
import footfall as ff

law, everything = sys.argv[1], sys.argv[2] == "every body"
x, y = np.meshgrid(np.linspace(-1.0, 1.0, 21), np.linspace(-1.0, 1.0, 21))
ground = ff.Ground.heightfield(0.1 * (x**2 + y**2), size=(2.0, 2.0))
sim = ff.Simulation("ball", law=law, ground=ground, body_contacts=everything)
given = {"qpos": sim.place(at=(0.33, 0.02))[None], "qvel": np.array([[0.0, 0.5, 0.0, 0.0, 0.0, 3.0]])}
cpu, gpu = [ff.Worlds(sim, 1, device=device, fall=0.0, **given) for device in ("cpu", "cuda")]
for one in (cpu, gpu):
    one.step(n=int(sys.argv[3]))
moved = float(np.abs(cpu.qpos[0, :2] - given["qpos"][0, :2]).max())
worst = float(np.abs(gpu.read("qpos") - cpu.qpos).max())
load = float(np.linalg.norm(cpu.force)) / sim.robot.weight
print(json.dumps({"worst": worst, "moved": moved, "load": load}))
"""

LYING = """
import json, sys
import mujoco
import numpy as np
import footfall as ff

law, how = sys.argv[1:3]
robot, count, rounds, steps, more = {
    "bounces": ("brick", 2, 5, 6, 6),
    "lands": ("brick", 2, 1, 6, 2),
    "falls": ("spatial-biped", 64, 5, 200, 200),
    "lies": ("spatial-biped", 64, 5, 19, 5),
}[how]
sim, rng = ff.Simulation(robot, law=law), np.random.default_rng(0)
qpos, qvel = np.repeat(sim.place()[None], count, axis=0), np.zeros((count, sim.robot.model.nv))
if robot == "brick":  # on its back, and on a side
    qpos[:, 3:7] = (0.0, 1.0, 0.0, 0.0), (0.5**0.5, 0.5**0.5, 0.0, 0.0)
    qvel[:, :3] = 0.3, 0.0, -1.0
elif how == "falls":
    qvel[:] = rng.normal(scale=0.5, size=qvel.shape)
else:  # 5 mm above the ground, any side down
    turn = rng.normal(size=(count, 4))
    qpos[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    model = sim.robot.model
    data = mujoco.MjData(model)
    for row in qpos:
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        box, down = model.geom_aabb, data.geom_xmat[:, 6:]
        low = data.geom_xpos[:, 2] + (down * box[:, :3]).sum(axis=1) - (np.abs(down) * box[:, 3:]).sum(axis=1)
        row[2] += 0.005 - low[model.geom_bodyid > 0].min()
cpu, gpu = (ff.Worlds(sim, count, device=device, qpos=qpos, qvel=qvel, fall=0.0) for device in ("cpu", "cuda"))
found = {"qpos": 0.0, "body_force": 0.0, "recording": 0.0, "lying": 0, "unsolved": 0}
for _ in range(rounds):
    recordings = [one.run(steps * sim.dt, controller=None, record=[0])[0] for one in (cpu, gpu)]
    beside = gpu._engine.host("beside")
    totals = [rec.force.sum(axis=1) for rec in recordings]
    found["qpos"] = max(found["qpos"], float(np.abs(gpu.read("qpos") - cpu.qpos).max()))
    found["body_force"] = max(found["body_force"], float(np.abs(beside - cpu.body_force).max()))
    found["recording"] = max(found["recording"], float(np.abs(totals[0] - totals[1]).max()))
    found["lying"] = max(found["lying"], int((beside[:, 2] > 1.0).sum()))
for one in (cpu, gpu):
    one.reset(np.arange(count) == 0)
    one.step(n=more)
found["again"] = float(np.abs(gpu.read("qpos") - cpu.qpos).max())
found["weight"], found["unsolved"] = sim.robot.weight, int(gpu.unsolved.sum())
print(json.dumps(found))
"""

LAID = """
import json, sys
import numpy as np
import footfall as ff
from footfall.study.bench.speeds import world_robot

sim = ff.Simulation(world_robot("humanoid"), law=sys.argv[1])
qpos = sim.place()[None].copy()
qpos[0, 2], qpos[0, 3:7] = 0.5, (0.5**0.5, 0.0, -(0.5**0.5), 0.0)
down = ff.Worlds(sim, 1, qpos=qpos, fall=0.0)
down.step(n=int(sys.argv[2]))
where = {"qpos": down.qpos.copy(), "qvel": down.qvel.copy(), "fall": 0.0}
cpu, gpu = (ff.Worlds(sim, 1, device=device, **where) for device in ("cpu", "cuda"))
speed, force, feet, load = 0.0, 0.0, 0.0, 0.0
for _ in range(2):
    for one in (cpu, gpu):
        one.step(n=1)
    speed = max(speed, float(np.abs(gpu.read("qvel") - cpu.qvel).max()))
    force = max(force, float(np.abs(gpu.read("beside") - cpu.body_force).max()))
    feet, load = max(feet, float(cpu.force[:, :, 2].sum())), max(load, float(cpu.body_force[0, 2]))
found = {"speed": speed, "force": force, "feet": feet, "load": load, "unsolved": int(gpu.unsolved.sum())}
print(json.dumps(found | {"weight": sim.robot.weight}))
"""

TILTED = """
import json, sys
import numpy as np
import footfall as ff

sim = ff.Simulation("brick", law=sys.argv[1], ground=ff.Ground.plane(friction=5.0), body_contacts=False)
qpos = np.repeat(sim.place()[None], 2, axis=0)
tilt = np.array([[1e-4, 2e-4, 0.0], [1e-3, -5e-4, 0.0]])
qpos[:, 3], qpos[:, 4:7] = np.sqrt(1.0 - (tilt**2).sum(axis=1)), tilt
qpos[:, 2] += np.abs(tilt).sum(axis=1)
qvel = np.zeros((2, 6))
qvel[:, 2] = -0.2
cpu, gpu = (ff.Worlds(sim, 2, device=device, qpos=qpos, qvel=qvel, fall=0.0) for device in ("cpu", "cuda"))
speed, force, some = 0.0, 0.0, False
for _ in range(9):
    for one in (cpu, gpu):
        one.step(n=1)
    speed = max(speed, float(np.abs(gpu.read("qvel") - cpu.qvel).max()))
    force = max(force, float(np.abs((gpu.read("force") - cpu.force).sum(axis=1)).max()))
    carry = (cpu.force[:, :, 2] > 0.0).sum(axis=1)
    some = some or bool(((0 < carry) & (carry < 4)).any())
standing = int((cpu.force[:, :, 2] > 0.1).sum())
unsolved = int(gpu.unsolved.sum())
print(json.dumps({"speed": speed, "force": force, "some": some, "standing": standing, "unsolved": unsolved}))
"""

TOUCHING = """
import json, sys
import mujoco
import numpy as np
import footfall as ff
from footfall.engine.worlds import every_pair

law, scene, places = sys.argv[1], sys.argv[2], int(sys.argv[3])
arm = '''<body pos="0 {y} 0.05"><joint axis="0 0 1" damping="0.02" ref="{arm}"/>
  <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03" mass="0.5"/>
  <body name="{side}" pos="0.2 0 0"><joint axis="0 0 1" damping="0.02"/><joint axis="0 1 0" damping="0.02"/>
    <geom type="capsule" fromto="0.07 0 0 0.25 0 0" size="0.03" mass="0.3"/></body></body>'''
box = '''<body name="{name}" pos="0 0 {z}"><freejoint/>
  <geom type="box" size="{size} {size} 0.05" mass="1" friction="0.2"/></body>'''
folded = '<body name="trunk" pos="0 0 0.05"><freejoint/><geom type="box" size="0.15 0.1 0.05" mass="2"/>'
folded += arm.format(y=0.17, side="left", arm=0) + arm.format(y=-0.17, side="right", arm=0) + "</body>"
stack = box.format(name="base", z=0.05, size=0.2) + box.format(name="top", z=0.1501, size=0.1)
gravity = "0 0 -9.81" if scene == "folded" else "3.35 0 -9.22"  # a slope of 20 degrees
body = folded if scene == "folded" else stack
text = f'<mujoco><option gravity="{gravity}"/><worldbody>{body}</worldbody></mujoco>'
robot = ff.load_robot(mujoco.MjSpec.from_string(text), name=scene)
sim = ff.Simulation(robot, law=law, dt=1e-3, ground=ff.Ground.plane(friction=1.0))
qpos, qvel = sim.place(), np.zeros(robot.model.nv)
if scene == "folded":  # hands that meet
    qpos[7:13], qvel[[7, 10]] = (-0.3, -0.9, 0.1, 0.3, 0.9, -0.1), (-2.0, 2.0)
every_pair.PLACES = places
world = sim.start(recorded=False, controller=None, qpos=qpos, qvel=qvel)
world.step(n=0 if scene == "folded" else 20)
given = {"qpos": world.qpos.copy(), "qvel": world.qvel.copy(), "fall": 0.0}
cpu, gpu = ff.Worlds(sim, 1, **given), ff.Worlds(sim, 1, device="cuda", **given)
recordings = [one.run(0.004, controller=None, record=[0])[0] for one in (cpu, gpu)]
speed = float(np.abs(gpu.read("qvel") - cpu.qvel).max())
own, other = (rec.body_contacts for rec in recordings)
found = {"speed": speed, "unsolved": int(gpu.unsolved[0])}
found["bodies"] = [sorted(set(one.bodies)) for one in (own, other)]
pushes = [one.force.sum(axis=1) for one in (own, other)]
found |= {"force": float(np.abs(pushes[0]).max()), "worst": float(np.abs(pushes[1] - pushes[0]).max())}
print(json.dumps(found))
"""

DERIVED = """
import json, sys
import numpy as np
import footfall as ff
from footfall.engine.worlds import gpu as engine

law, everything, size = sys.argv[1], sys.argv[2] == "every body", float(sys.argv[3])
sim = ff.Simulation("brick", law=law, body_contacts=everything)
qpos, qvel = np.repeat(sim.place()[None], 3, axis=0), np.zeros((3, 6))
qpos[:2, 2] -= 1e-4
qpos[2, 3:7] = 0.0, 1.0, 0.0, 0.0  # on its back
qvel[1, 0] = 0.5
pushes = [[ff.Push("brick", (0.0, 0.0, force))] for force in (0.0, -2.0, 0.0)]
usual, (engine.BLOCK, engine.LANES) = (engine.BLOCK, engine.LANES), (1, 2)  # two of the worlds at a time
cpu, gpu = [ff.Worlds(sim, 3, device=device, qpos=qpos, qvel=qvel, pushes=pushes, fall=0.0)
            for device in ("cpu", "cuda")]
for one in (cpu, gpu):
    one.step(n=2)
kept = gpu.read("qvel")
lin, wanted = gpu.linearize(smoothing=size), cpu.linearize(smoothing=size)
engine.BLOCK, engine.LANES = usual
A = lin.A.copy_to_host() if hasattr(lin.A, "copy_to_host") else np.asarray(lin.A)
off = [float(np.abs(A[w] - one.A).max() / np.abs(one.A).max()) for w, one in enumerate(wanted)]
found = {"off": off, "why": lin.why, "repr": repr(lin), "modes": cpu.mode[:2].tolist()}
print(json.dumps(found | {"kept": bool((gpu.read("qvel") == kept).all())}))
"""

REFUSED = """
import json
import footfall as ff

bumps = ff.Ground.heightfield([[0.0, 0.0], [0.0, 0.1]], size=(2.0, 2.0))
asked = [({"law": "distributed"}, {}), ({"law": "time-stepping", "ground": bumps}, {}),
         ({"law": "time-stepping"}, {"to": "friction"}), ({"law": "spring-damper"}, {"smoothing": 1e-6})]
said = []
for setup, given in asked:
    try:
        ff.Worlds(ff.Simulation("ball", **setup), 1, device="cuda").linearize(**given)
    except ff.FootfallError as error:
        said.append(str(error))
print(json.dumps(said))
"""
