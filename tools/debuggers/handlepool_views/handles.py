# SPDX-License-Identifier: MIT
"""Handles: their parts, their pool, and whether their object is alive."""

import re

from . import lives, pools
from .memory import NoDefinition


class Layout:
    """How the bits of a handle are divided: a handle_layout, or a keyed_layout of one."""

    def __init__(self, name):
        widths = re.search(r"handle_layout<(\d+)\w*, *(\d+)\w*, *(\d+)\w*(?:, *(\d+)\w*)?", name)
        if widths is None:
            raise NoDefinition("a layout of handles")
        self.index, self.generation, self.pool_id, self.user = (int(bits or 0) for bits in widths.groups())
        self.bits = self.index + self.generation + self.pool_id + self.user

    def index_of(self, value):
        return value & ((1 << self.index) - 1)

    def tag_of(self, value):
        return value >> self.index & ((1 << self.generation + self.pool_id) - 1)

    def generation_of(self, tag):
        return tag & ((1 << self.generation) - 1)

    def pool_id_of(self, tag):
        return tag >> self.generation

    def user_of(self, value):
        return value >> self.bits - self.user & ((1 << self.user) - 1)

    def without_user(self, value):
        return value & ~(((1 << self.user) - 1) << self.bits - self.user)

    def fits(self, value):
        return value >> self.bits == 0

    def widths(self):
        return self.index, self.generation, self.pool_id


def short_name(layout, value):
    """Names a handle among those of one pool."""
    return f"#{layout.index_of(value)} generation {layout.generation_of(layout.tag_of(value))}"


def type_name(name):
    """The name of an object's type before its handle; nothing for void."""
    return "" if name == "void" else name.replace("handlepool::", "") + " "


def describe(target, layout, value, element):
    """'ship #1021 generation 7 (ships): erased 3 frames ago', with the words of pool::describe()."""
    named = layout.without_user(value)
    if named == 0:
        return "null"
    text = short_name(layout, value)
    if layout.user_of(value) != 0:
        text += f" user {layout.user_of(value)}"
    pool_id = layout.pool_id_of(layout.tag_of(value))
    known, found = pools.find(target, layout.widths(), pool_id)
    if found is None:
        return f"{text}, pool {pool_id}" + (": no living pool has that id" if known else "")
    pool = pools.pool_of(target, found)
    if pool is None:
        return f"{type_name(element)}{text} ({found.name})"
    return f"{type_name(pool.object_name)}{text} ({found.name}): {state(pool, layout, named)}"


def state(pool, layout, value):
    """What is known of a handle of that pool or another, as pool::describe() says it."""
    tag = layout.tag_of(value)
    generation = layout.generation_of(tag)
    index = layout.index_of(value)
    first = layout.generation_of(pool.fresh_tag)
    if not layout.fits(value):
        return "bits are set that its layout leaves out"
    if layout.pool_id_of(tag) != layout.pool_id_of(pool.fresh_tag):
        return f"it belongs to another pool; this one has pool id {layout.pool_id_of(pool.fresh_tag)}"
    if generation % 2 == 0:
        return "no object ever had this generation; an object's is odd"
    if index >= pool.slot_limit:
        seen, where = None, None
    else:
        seen, where = pool.slot(index)
        if seen == tag:
            return "alive" + (told_so_far(pool, index, generation) or pool.since_birth(index, tag))
        if seen < tag and pool.is_reserved(layout, value, seen, where):
            return "reserved, no object yet"
    recorder = pool.recorder()
    if generation <= first:
        reset = recorder.last_reset(first) if recorder else None
        of_whom = f", the last one{recorder.after_event(reset)}" if reset else ""
        return f"its object was forgotten by a reset{of_whom}, or lived in a former pool with this id"
    told, undone = told_of_end(recorder, index, generation) if recorder and seen is not None else ("", "")
    if undone and not told:
        return undone
    if seen is None or index >= pool.slots_in_service():
        return f"no such slot was ever used; there are {pool.slots_in_service()}"
    slot_generation = layout.generation_of(seen)
    if generation > slot_generation:
        return f"no object had this generation yet; the slot is at {slot_generation}"
    if seen == tag + 1:
        if where == pools.NOWHERE:
            return f"reserved and {told or 'cancelled'}"
        return told or "erased" + pool.since_death(index, tag)
    if told:
        return told
    return ("erased, and the slot has been used again since, or revoked; the slot is at generation "
            f"{slot_generation}{recorder.lives_kept() if recorder else ''}")


def told_so_far(pool, index, generation):
    """"; created 3 frames ago by ...", of what is alive; nothing if it is not recorded."""
    recorder = pool.recorder()
    beginning = recorder.beginning(index, generation) if recorder else None
    if beginning is None:
        return ""
    end = recorder.end(index, generation, may_wait=False)
    is_taken_back = (end and end.is_undone and end.event != lives.UNDONE and
                     recorder.frames_ago(end) <= recorder.frames_ago(beginning))
    return f"; {recorder.text(beginning)}" + (f"; taken back: {recorder.text(end)}" if is_taken_back else "")


def told_of_end(recorder, index, generation):
    """What is recorded of a life that has ended; and of one that was undone."""
    beginning, end = recorder.beginning(index, generation), recorder.end(index, generation)
    began = f"; {recorder.text(beginning)}" if beginning else ""
    ended = recorder.text(end) if end and not end.is_undone else ""
    with_end = f"; {recorder.text(end)}" if end and end.event != lives.UNDONE else ""
    is_undone = beginning and beginning.is_undone
    return ended and ended + began, f"undone by a restore{with_end}{began}" if is_undone else ""
