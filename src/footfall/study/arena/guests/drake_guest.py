"""Drake: ``MultibodyPlant`` in discrete time, point contacts of compliance and Hunt-Crossley damping; by default
friction follows the load of the step before (lagged), so that it may leave the cone in impacts.

The default of ``MultibodyPlantConfig`` is the approximation "lagged" of the SAP solver. Compliance follows from
``penetration_allowance``, friction is regularised by ``stiction_tolerance`` under TAMSI, lagged and similar. It has no
coefficient of restitution.
"""

import numpy as np
from guest_side import to_matrix
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, RoleAssign
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

PACKAGES = ["drake"]
SETTINGS = {
    "": {},
    "sap": {"discrete_contact_approximation": "sap"},
    "tamsi": {"discrete_contact_approximation": "tamsi"},
}
TUNED = {
    "penetration_allowance": (1e-5, 1e-2, "log", 1e-3),
    "stiction_tolerance": (1e-5, 1e-2, "log", 1e-3),
}


class World:
    def __init__(self, task):
        if task.restitution:
            raise NotImplementedError("Drake's contacts have a dissipation and no coefficient of restitution")
        builder, config = DiagramBuilder(), MultibodyPlantConfig(time_step=task.dt)
        config.discrete_contact_approximation = task.settings.get(
            "discrete_contact_approximation", config.discrete_contact_approximation
        )
        for name in ("penetration_allowance", "stiction_tolerance"):
            setattr(config, name, task.settings.get(name, getattr(config, name)))
        plant, scene = AddMultibodyPlant(config, builder)
        Parser(plant).AddModels(task.urdf)
        friction = CoulombFriction(task.friction, task.friction)
        plant.RegisterCollisionGeometry(
            plant.world_body(), HalfSpace.MakePose([0, 0, 1.0], [0, 0, 0]), HalfSpace(), "ground", friction
        )
        material = ProximityProperties()
        AddContactMaterial(friction=friction, properties=material)
        for body in map(plant.GetBodyByName, dict.fromkeys(task.sphere_body)):
            for geometry in plant.GetCollisionGeometriesForBody(body):
                scene.AssignRole(plant.get_source_id(), geometry, material, RoleAssign.kReplace)
        plant.mutable_gravity_field().set_gravity_vector(task.gravity)
        plant.Finalize()
        diagram = builder.Build()
        self.simulator = Simulator(diagram)
        self.plant = plant
        self.context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        self.torque = plant.get_applied_generalized_force_input_port()
        self.base = plant.GetBodyByName(task.bodies[0])
        self.com = np.array(self.base.default_com())
        joints = [plant.GetJointByName(name) for name in task.joints]
        self.q = [joint.position_start() for joint in joints]
        self.v = [joint.velocity_start() for joint in joints]
        q, v = np.zeros(plant.num_positions()), np.zeros(plant.num_velocities())
        self.q0, self.v0 = self.base.floating_positions_start(), self.base.floating_velocities_start_in_v()
        q[self.q0 : self.q0 + 7] = [*task.qpos[3:7], *task.qpos[:3]]
        v[self.v0 : self.v0 + 6] = [*(to_matrix(task.qpos[3:7]) @ task.qvel[3:6]), *task.qvel[:3]]
        q[self.q], v[self.v] = task.qpos[7:], task.qvel[6:]
        plant.SetPositions(self.context, q)
        plant.SetVelocities(self.context, v)
        self.mass, self.dt, self.steps = plant.CalcTotalMass(self.context), plant.time_step(), 0
        inspector = scene.model_inspector()
        self.sphere, counted = {}, {}
        for i, body in enumerate(task.sphere_body):
            name = f"{body}.{counted.get(body, 0)}"
            counted[body] = counted.get(body, 0) + 1
            own = plant.GetCollisionGeometriesForBody(plant.GetBodyByName(body))
            self.sphere[next(one for one in own if inspector.GetName(one).split("::")[-1] == name)] = i
        self.simulator.Initialize()

    def step(self, torque, pull):
        force = np.zeros(self.plant.num_velocities())
        force[self.v] = torque
        if pull.any():
            turned = to_matrix(self.plant.GetPositions(self.context)[self.q0 : self.q0 + 4])
            force[self.v0 : self.v0 + 6] = [*np.cross(turned @ self.com, pull), *pull]
        self.torque.FixValue(self.context, force)
        self.steps += 1
        self.simulator.AdvanceTo(self.steps * self.dt)

    def state(self):
        q, v = self.plant.GetPositions(self.context), self.plant.GetVelocities(self.context)
        turn, place = q[self.q0 : self.q0 + 4], q[self.q0 + 4 : self.q0 + 7]
        spin, velocity = v[self.v0 : self.v0 + 3], v[self.v0 + 3 : self.v0 + 6]
        return (
            np.array([*place, *turn, *q[self.q]]),
            np.array([*velocity, *(to_matrix(turn).T @ spin), *v[self.v]]),
        )

    def contacts(self):
        results, found = self.plant.get_contact_results_output_port().Eval(self.context), []
        for i in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(i)
            pair, force = info.point_pair(), info.contact_force()  # on the second body
            if pair.id_B in self.sphere:
                found.append((self.sphere[pair.id_B], info.contact_point(), force))
            else:
                found.append((self.sphere[pair.id_A], info.contact_point(), -force))
        return found
