"""MuJoCo's own solver for Footfall's contact points: it gets them as contacts and returns their forces."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.bridge import address_of, mj_add_contact, mj_contact_force, pointer_to
from footfall.engine.mujoco_law.soft_contacts import friction
from footfall.solve.contacts import OPEN, SLIDE, STICK


@inlined
def to_middle(points, contacts, share):
    """Move near points by a share of their gap: with a half, to where MuJoCo has forces act, between the surfaces."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        move_to_middle(points, contacts, p, share)


@inlined
def move_to_middle(points, contacts, p, share):
    for j in range(3):
        points.position[p, j] -= share * contacts.gap[p] * contacts.frame[p, 2, j]


@inlined
def tell_mujoco(world, points, contacts, native):
    """Add one native contact for every near point."""
    contact = native.contact
    for k in range(points.body.size):
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            frame, at, gap = contacts.frame[p], points.position[p], contacts.gap[p]
            contact[0].dist = gap
            for j in range(3):
                contact[0].pos[j] = at[j] - 0.5 * gap * frame[2, j]
                contact[0].frame[j] = frame[2, j]
                contact[0].frame[3 + j] = frame[0, j]
                contact[0].frame[6 + j] = frame[1, j]
            for j in range(2):
                contact[0].friction[j] = friction(contacts, p)
            contact[0].geom1 = native.ground_geom
            contact[0].geom2 = points.geom[k]
            contact[0].geom[0] = native.ground_geom
            contact[0].geom[1] = points.geom[k]
            native.contact_id[p] = world.ncon[0]
            if mj_add_contact(world.model, world.data, address_of(contact)) != 0:
                native.contact_id[p] = -1


@inlined
def ask_mujoco(world, points, contacts, native, wrench):
    """Read the forces of the contacts that were added."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if native.contact_id[p] < 0:
            continue
        mj_contact_force(world.model, world.data, native.contact_id[p], pointer_to(wrench))
        force = points.force[p]
        force[0], force[1], force[2] = wrench[1], wrench[2], wrench[0]
        move_to_middle(points, contacts, p, 0.5)
        set_mode(points, contacts, p)


@inlined
def set_mode(points, contacts, p):
    """A point whose friction is below its limit sticks; an open one is back where it is, not between the surfaces."""
    force = points.force[p]
    limit = contacts.dynamic_friction[p] * force[2]
    if force[2] <= 0.0:
        points.mode[p] = OPEN
        move_to_middle(points, contacts, p, -0.5)
    elif force[0] ** 2 + force[1] ** 2 >= (0.999 * limit) ** 2:
        points.mode[p] = SLIDE
    else:
        points.mode[p] = STICK
