# SPDX-License-Identifier: MIT
"""The payload of a pool in a snapshot, as docs/snapshot_format.md describes it."""

import struct

VERSION = 1
HEADER = struct.Struct("<5I2Q9I2Q")
PLACEMENTS = ("dense", "stable", "recycling")
ENCODINGS = ("bytes", "archive")


class Invalid(Exception):
    """A payload that is no pool; of the byte of the payload where that is seen."""

    def __init__(self, offset, problem):
        super().__init__(problem)
        self.offset = offset


class SavedPool:
    """What a payload says of a pool. Objects have handles, and bytes of the payload."""

    def __init__(self, payload):
        self.payload, self.next = payload, 0
        if len(payload) < HEADER.size:
            raise Invalid(0, f"the header of a pool has {HEADER.size} bytes, and {len(payload)} are there")
        (widths, placement, self.id, encoding, self.type_version, self.size, self.alignment, self.fresh_generation, slots, objects,
         reserved, waiting, threads, returned, self.retired, _, _, _) = HEADER.unpack_from(payload)
        self.widths = tuple(widths >> shift & 255 for shift in (0, 8, 16, 24))
        self.placement = self.name_of(PLACEMENTS, placement, 4, "placement")
        self.encoding = self.name_of(ENCODINGS, encoding, 12, "encoding")
        self.next = HEADER.size
        self.generations = self.numbers(slots)
        self.slots = self.numbers(objects)
        self.places = self.numbers(objects) if placement else None
        self.reserved = self.numbers(reserved)
        self.waiting = self.numbers(waiting)
        claims = self.numbers(threads)
        self.claimed = self.numbers(sum(claims))
        self.returned = self.numbers(returned)
        for slot in self.slots:
            if slot >= slots or self.generations[slot] % 2 == 0:
                raise Invalid(HEADER.size + 4 * slots, f"slot {slot} has no object")
        self.objects = [{"handle": self.handle(slot), "offset": offset, "bytes": size}
                        for slot, (offset, size) in zip(self.slots, self.object_bytes())]
        for i, place in enumerate(self.places or ()):
            self.objects[i]["place"] = place
        if self.next != len(payload):
            raise Invalid(self.next, f"the payload is expected to end, and {len(payload) - self.next} bytes are there")

    @staticmethod
    def name_of(names, number, offset, what):
        if number >= len(names):
            raise Invalid(offset, f"{what} {number} is unknown; known are 0 to {len(names) - 1}")
        return names[number]

    def take(self, size, what):
        if size > len(self.payload) - self.next:
            raise Invalid(self.next, f"{what} take {size} bytes, and {len(self.payload) - self.next} are left")
        self.next += size
        return self.next - size

    def numbers(self, count):
        return struct.unpack_from(f"<{count}I", self.payload, self.take(4 * count, "numbers"))

    def object_bytes(self):
        """Where the bytes of each object begin, and how many there are."""
        count = len(self.slots)
        if self.encoding == "bytes":
            first = self.take(count * self.size, "objects")
            return [(first + i * self.size, self.size) for i in range(count)]
        sizes = struct.unpack_from(f"<{count}Q", self.payload, self.take(8 * count, "the sizes of objects"))
        return [(self.take(size, "an object"), size) for size in sizes]

    def handle(self, slot):
        index_bits, generation_bits = self.widths[:2]
        return f"{slot | (self.generations[slot] | self.id << generation_bits) << index_bits:#x}"

    def document(self):
        """What the JSON says of it, but for its objects."""
        found = {"id": self.id, "placement": self.placement, "objects": len(self.slots), "encoding": self.encoding,
                 "type_version": self.type_version, "slots": len(self.generations), "reserved": len(self.reserved),
                 "waiting": len(self.waiting), "claimed": len(self.claimed), "returned": len(self.returned),
                 "retired": self.retired}
        if self.encoding == "bytes":
            found |= {"object_bytes": self.size, "object_alignment": self.alignment}
        return found


def text_of(found):
    """What document() has, in a line."""
    size = f" of {found['object_bytes']} bytes" if found["encoding"] == "bytes" else ", archived"
    return (f"{found['placement']}, pool id {found['id']}, {found['objects']} objects{size}, "
            f"{found['slots']} slots, {found['reserved']} reserved, {found['retired']} retired")
