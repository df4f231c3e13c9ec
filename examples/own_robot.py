"""A robot of one's own, from a few lines of MJCF: its feet are found, and it stands on them."""

import footfall as ff

MODEL = """
<mujoco model="stool">
  <default><geom type="capsule" size="0.02"/><joint axis="0 1 0" armature="0.01"/><motor ctrlrange="-40 40"/></default>
  <worldbody>
    <body name="seat" pos="0 0 0.45">
      <freejoint/>
      <geom type="cylinder" size="0.18 0.02" mass="3"/>
      <body name="front" pos="0.12 0 0"><joint name="a"/><geom fromto="0 0 0 0.06 0 -0.43" mass="0.4"/></body>
      <body name="left" pos="-0.06 0.1 0"><joint name="b"/><geom fromto="0 0 0 -0.03 0.05 -0.43" mass="0.4"/></body>
      <body name="right" pos="-0.06 -0.1 0"><joint name="c"/><geom fromto="0 0 0 -0.03 -0.05 -0.43" mass="0.4"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="a"/><motor joint="b"/><motor joint="c"/></actuator>
</mujoco>
"""
with open("stool.xml", "w") as file:
    file.write(MODEL)

robot = ff.load_robot("stool.xml")
print(robot)
rec = ff.Simulation(robot, law="time-stepping").run(1.0, controller="posture")
shares = {foot.name: rec.foot_force[-1, f, 2] / robot.weight for f, foot in enumerate(robot.feet)}
print({name: f"{share:.1%} of the weight" for name, share in shares.items()})
print(rec.audit())
