# SPDX-License-Identifier: MIT
"""Pools of any kind: the living ones of the process, and what is in them."""

from .lives import Recorder
from .memory import Array, NoSuchMember, Place, Unreadable, optional, printable

IN_USE = 0x6C6F6F70  # whole_pool::in_use_mark
FIRST_NO_PLACE = 0x80000000  # of locations
NOWHERE = 0xFFFFFFFF


class Listed:
    """A living_pool."""

    def __init__(self, place):
        self.widths = tuple(place[part].number() for part in ("index_bits", "generation_bits", "pool_id_bits"))
        self.id = place["id"].number()
        self.core = place["core"].pointer()
        self.function_of_type = place["function_of_type"].pointer()
        self.name = printable(place.memory.text(place["name"].pointer()))
        self.next = place["next"].pointer()

    def type(self, target):
        """Of its pool_impl; None where the program has no debug information of it."""
        return target.parameter_of_function(self.function_of_type)


def listed(target):
    """The living pools of the process; None when nothing is known of them."""
    head = target.symbol("handlepool::detail::living_pools")
    of_type = target.find_type("handlepool::detail::living_pool")
    if head is None or of_type is None:
        return None
    return _follow(target, of_type, head)


def _follow(target, of_type, head):
    seen = {0}  # a list that is damaged may lead around in circles
    try:
        address = target.pointer(head)
        while address not in seen:
            seen.add(address)
            found = Listed(Place(target, of_type, address))
            yield found
            address = found.next
    except Unreadable:
        return


def find(target, widths, pool_id):
    """(whether the living pools are known, the one that has the handles of these widths with this pool id)."""
    pools = listed(target)
    if pools is None:
        return False, None
    return True, next((pool for pool in pools if pool.id == pool_id and pool.widths == widths), None)


def pool_of(target, found):
    """The Pool that is listed; None when it can't be read."""
    core = found.type(target)
    if core is None:
        return None
    pool = Pool(Place(target, core, found.core))
    return pool if pool.is_in_use() else None


class Pool:
    """A pool_impl."""

    def __init__(self, core):
        self._core = core
        self._whole = core["whole_"]
        self._parts = self._whole["parts"]
        self._compactor = self._whole["compactor"]
        self._objects = self._parts["objects"]
        self._newborns = self._parts["newborns"]
        self._object = core.type.argument(0)
        self.object_name = self._object.name
        self._cached_slots = None

    def is_in_use(self):
        """Is it made, and not destroyed?"""
        return self._whole["in_use_"].number() == IN_USE

    # ---- Numbers

    @property
    def fresh_tag(self):
        return self._parts["fresh_tag"].number()

    @property
    def slot_limit(self):
        return self._slots().size

    @property
    def capacity(self):
        return self._parts["geometry"]["capacity"].number()

    @property
    def id(self):
        return self._whole["id"]["lease_"]["id"].number()

    def name(self):
        for pool in listed(self._core.memory) or ():
            if pool.core == self._core.address:
                return pool.name
        return None

    def slots_in_service(self):
        """Slots that were ever used are the first ones."""
        freelist = self._parts["allocator"]["free_"]["free_"]
        return min(freelist["counters_"]["fresh_"].number(), self.slot_limit)

    def counts(self):
        """As in pool_stats, by name."""
        created, erased, reserved, closed = (self._sum_of_shards(counter)
                                              for counter in ("created", "erased", "reserved", "closed"))
        erased += self._parts["erased_without_shard"].number()
        closed += self._whole["reservations"]["closed_without_shard_"].number()
        dense = self._objects["size_"].number()
        if self._is_stable():
            dense += self._newborns["promoted_"]["count_"].number()
        alive = max(created - erased, 0)
        return {
            "alive": alive,
            "dense": dense,
            "newborn": max(created - self._compactor["left_nursery_"].number(), 0),
            "waiting_removals": max(created - alive - self._compactor["destroyed_"].number(), 0),
            "slots_reserved": max(reserved - closed, 0),
        }

    def _sum_of_shards(self, counter):
        shards = self._parts["shards"]
        entries = Array(shards["entries_"]["elements_"])
        count = min(shards["count_"].number(), entries.size)
        return sum(entries[entries.size - 1 - index][counter].number() for index in range(count))

    def _is_stable(self):
        return self._newborns.type.has("promoted_")

    # ---- Slots

    def _slots(self):
        if self._cached_slots is None:
            self._cached_slots = Array(self._parts["table"]["slots_"])
        return self._cached_slots

    def slot(self, index):
        """(tag, location)"""
        entry = self._slots()[index]
        return entry["tag"].number(), entry["where"].number()

    def _each_slot(self):
        """Yields (index, tag, location) of the slots in service."""
        slots = self._slots()
        stride = slots.element.size
        tag, tag_type = slots.element.member("tag")
        where, where_type = slots.element.member("where")
        step = 1024
        last = self.slots_in_service()
        for first in range(0, last, step):
            count = min(step, last - first)
            memory = self._core.memory.read(slots.data + first * stride, count * stride)
            for i in range(count):
                entry = memory[i * stride:(i + 1) * stride]
                yield (first + i, int.from_bytes(entry[tag:tag + tag_type.size], "little"),
                       int.from_bytes(entry[where:where + where_type.size], "little"))

    def is_reserved(self, layout, value, seen, where):
        """Will the handle's object be the slot's next one? See slot_table::state."""
        tag = layout.tag_of(value)
        if where == FIRST_NO_PLACE | tag >> 1:
            return True
        being_fulfilled = FIRST_NO_PLACE | (1 << layout.generation) - 1 >> 1
        on_its_way = where == being_fulfilled or self._nursery_owner(where) == value
        return on_its_way and (seen or self.fresh_tag) + 1 == tag

    def _nursery_owner(self, where):
        position = where - self._objects["capacity_"].number()
        owners = Array(self._newborns["positions_"]["owners"])
        return owners[position]["word_"].number() if where < FIRST_NO_PLACE and 0 <= position < owners.size else None

    # ---- What it remembers

    def recorder(self):
        """Of lives, or None."""
        place = self._parts["lives"]
        return Recorder(place) if optional(place["lives_"]) is not None else None

    def since_birth(self, index, tag):
        life = self._life(index)
        if life is None:
            return ""
        birth, death = life
        born, died = birth >> 32, death >> 32
        forgotten = born == 0 or born > tag or born <= died < tag
        return ", created" + self._frames_ago(None if forgotten else birth)

    def since_death(self, index, tag):
        life = self._life(index)
        if life is None:
            return ""
        death = life[1]
        return self._frames_ago(death if death >> 32 == tag else None)

    def _life(self, index):
        lives = optional(self._compactor["history_"]["lives_"])
        if lives is None:
            return None
        life = Array(lives)[index]
        return life["birth"].number(), life["death"].number()

    def _frames_ago(self, stamp):
        """What no compaction has seen yet happened in this frame."""
        now = self._compactor["runs_"].number()
        frames = 0 if stamp is None else now - stamp & 0xFFFFFFFF
        if frames == 0:
            return " in this frame"
        return " 1 frame ago" if frames == 1 else f" {frames} frames ago"

    # ---- Objects

    def living(self, layout):
        """Yields (name, type, address) of each living object, or of each element of rows, in the order of slots."""
        elements = list(self._elements())
        capacity = self._objects["capacity_"].number()
        promoted = Array(self._newborns["promoted_"]["promoted_"]) if self._is_stable() else None
        for index, tag, where in self._each_slot():
            if tag & 1 == 0 or where >= FIRST_NO_PLACE:
                continue
            name = f"#{index} generation {layout.generation_of(tag)}"
            if self._is_newborn(where, capacity, promoted):
                name += " newborn"
            for column, of_type, first, stride in elements:
                yield f"[{name}]{column}", of_type, first + where * stride

    @staticmethod
    def _is_newborn(where, capacity, promoted):
        if promoted is None:
            return where >= capacity
        group_size = 8 * promoted.element.size
        position = where - capacity
        return promoted[position // group_size].number() >> position % group_size & 1 == 0

    def _elements(self):
        """(name, type, address of the first, distance) of what there is at a location."""
        if self._objects.type.has("starts_"):
            starts = self._objects["starts_"]
            columns = [base for _, base in self._objects.type.bases() if "::column_array<" in base.name]
            for number, column in enumerate(columns):
                of_type = column.argument(1)
                yield (f" {of_type.name}", of_type,
                       self._core.memory.pointer(starts.address + 8 * number), of_type.size)
            return
        first = self._objects["bytes_"]["memory_"]["data_"].pointer()
        if self._object.name == "void":
            # Of which type, the program alone knows.
            yield "", None, first, self._objects["type_"]["stride_"].number()
        else:
            yield "", self._object, first, self._object.size


class View:
    """Of a pool, raw_pool or pool_impl."""

    def __init__(self, place):
        core = place["core_"] if place.type.has("core_") else place
        self._pool = Pool(core)
        self._core = core

    def summary(self):
        pool = self._pool
        if not pool.is_in_use():
            return "no pool: not made yet, or destroyed"
        counts = pool.counts()
        store = "promoted" if pool._is_stable() else "dense"
        details = [f"{counts['dense']} {store}", f"{counts['newborn']} newborn"]
        if counts["waiting_removals"] != 0:
            details.append(f"{counts['waiting_removals']} waiting for removal")
        if counts["slots_reserved"] != 0:
            details.append(f"{counts['slots_reserved']} reserved")
        return (f"{pool.name() or 'pool'}: {counts['alive']} alive of {pool.capacity} ({', '.join(details)}), "
                f"pool id {pool.id}")

    def children(self):
        if not self._pool.is_in_use():
            return
        try:
            yield from self._pool.living(_layout_of(self._core))
        except NoSuchMember as error:
            # A freelist of the program's own doesn't say how many slots are in service.
            if error.args[0].find("counters_") < 0:
                raise


def _layout_of(core):
    from .handles import Layout
    return Layout(core.type.argument(1).name)
