# SPDX-License-Identifier: MIT
"""Property bags, and stores of them."""

import struct

from .handles import Layout, short_name
from .memory import Array, Place, Unreadable, Vector, quoted

FORMAT = 0xBA01  # bag_format
UNIT = 4  # bag_unit
BLOCK_UNIT = 8  # block_arena::unit
BOOLEAN, NUMBER, STRING, NUMBERS, REMOVED = range(1, 6)  # property_kind
LARGEST_ARENA = 8 << 32  # of block_arena's, in bytes
MOST_DEPTH = 64  # of a tree of names
MOST_KEYS = 64  # of a path whose name is shown


class _Bag:
    """A buffer, as bag_buffer.hpp describes it."""

    def __init__(self, target, address, names):
        self._target = target
        self._address = address
        self._names = names
        try:
            header = target.read(address, 8)
        except Unreadable:
            header = bytes(8)  # no format
        self._format, self.count, _, capacity = struct.unpack("<4H", header)
        self._capacity = UNIT * capacity

    def is_sound(self):
        return self._format == FORMAT and 8 + 9 * self.count <= self._capacity

    def values(self):
        """Yields (name, type, address)."""
        count = self.count
        hashes = self._address + 8
        words = hashes + 4 * count
        kinds = words + 4 * count
        for i in range(count):
            name = f"[{self._names.get(self._target.number(hashes + 4 * i, 4))}]"
            yield (name, *self._value(words + 4 * i, kinds + i))

    def _value(self, word, kind_address):
        kind = self._target.number(kind_address, 1)
        if kind == BOOLEAN:
            return self._target.basic_type("bool"), word
        if kind == NUMBER:
            return self._target.basic_type("float"), word
        if kind in (STRING, NUMBERS):
            place = self._target.number(word, 4)
            element, size = ("char", 1) if kind == STRING else ("float", 4)
            count = (place & 0xFFFF) // size
            if count != 0:
                return self._target.basic_type(element, count), self._address + (place >> 16)
            if kind == STRING:
                return self._target.basic_type("char", 1), word  # which is zero
        # The kind itself: an array of nothing, or a removal.
        return self._target.find_type("handlepool::property_kind"), kind_address


class _Names:
    """Of paths, from a key_table or none."""

    def __init__(self, table):
        self._entries = table["entries_"] if table is not None else None

    def get(self, key):
        try:
            keys = self._find(key)
        except Unreadable:
            keys = []
        return " / ".join(quoted(each) for each in keys) or f"path #{key:08x}"

    def _find(self, wanted):
        """Of a std::map of libstdc++'s; of another library's, no name is known.

        It is searched, not read: a tree that is damaged, and leads around in circles, ends at the depth that a
        sound one can have.
        """
        tree = self._entries
        if tree is None or not tree.type.has("_M_t"):
            return []
        node_values = 32  # what a node has before its value: colour, parent, left and right
        key_size = 8  # of the hash, up to the entry's alignment
        header = tree["_M_t"]["_M_impl"].address + 8
        node = tree.memory.pointer(header + 8)
        for _ in range(MOST_DEPTH):
            if node == 0:
                break
            key = tree.memory.number(node + node_values, 4)
            if key == wanted:
                entry = Place(tree.memory, tree.type.argument(1), node + node_values + key_size)
                keys = Vector(entry["keys"])
                return [self._string(each) for each in keys] if keys.size <= MOST_KEYS else []
            node = tree.memory.pointer(node + (16 if wanted < key else 24))
        return []

    @staticmethod
    def _string(place):
        """A std::string of libstdc++'s: the characters' address and their number come first."""
        data, size = place.memory.pointer(place.address), place.memory.pointer(place.address + 8)
        return place.memory.read(data, min(size, 256))


class BagView:
    """Of a property_bag or property_view."""

    def __init__(self, place):
        # A property_bag has a member of the same name, for the memory that it owns.
        offset, reader = next(base for base in place.type.bases() if base[1].name.endswith("::property_reader"))
        reader = Place(place.memory, reader, place.address + offset)
        names = reader["names_"]
        table = names.deref() if names.pointer() != 0 else None
        self._bag = _Bag(place.memory, reader["memory_"].pointer(), _Names(table))

    def summary(self):
        if not self._bag.is_sound():
            return "no bag: not made yet, or destroyed"
        return f"{self._bag.count} {'property' if self._bag.count == 1 else 'properties'}"

    def children(self):
        if self._bag.is_sound():
            yield from self._bag.values()


class HeaderView(BagView):
    """Of the buffer of a bag without a name for its paths: an element of a store."""

    def __init__(self, place):
        self._bag = _Bag(place.memory, place.address, _Names(None))


class StoreView:
    """Of a property_store: a bag for each object that has one."""

    def __init__(self, place):
        self._layout = Layout(place.type.argument(1).name)
        self._bags = place["bags_"]
        store = self._bags.type.argument(0)
        self._store = Place(place.memory, store, self._bags.pointer()) if self._bags.pointer() != 0 else None

    def is_sound(self):
        """Is it made, and not destroyed?"""
        try:
            table = Array(self._store["table_"])
            bytes_of_blocks = min(self._store["bytes_"].number(), LARGEST_ARENA) // BLOCK_UNIT * BLOCK_UNIT
            return (table.size <= 1 << self._layout.index and self._store["slots_end_"].number() <= table.size
                    and table.is_sound() and self._blocks()["size_"].number() == max(bytes_of_blocks, 1))
        except Unreadable:
            return False

    def summary(self):
        if self._store is None:
            return "no bags: moved from"
        if not self.is_sound():
            return "no store: not made yet, or destroyed"
        count = sum(1 for _ in self._owners())
        return f"{count} {'bag' if count == 1 else 'bags'}"

    def children(self):
        if self._store is None or not self.is_sound():
            return
        header = self._store.memory.find_type("handlepool::detail::bag_header")
        memory = self._blocks()["data_"].pointer()
        for slot, tag, block in self._owners():
            value = tag << self._layout.index | slot
            yield f"[{short_name(self._layout, value)}]", header, memory + BLOCK_UNIT * block

    def _blocks(self):
        """The memory of all bags."""
        arena = self._store["arena_"]
        return Place(arena.memory, arena.type.argument(0), arena.pointer())["memory_"]

    def _owners(self):
        """Yields (slot, tag, block)."""
        table = Array(self._store["table_"])
        slot = 0
        for memory in table.memory.blocks(table.data, 8 * self._store["slots_end_"].number()):
            for tag, block in struct.iter_unpack("<II", memory):
                if tag != 0:
                    yield slot, tag, block
                slot += 1
