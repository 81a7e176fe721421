# SPDX-License-Identifier: MIT
"""The payloads of pools and values in a snapshot, as docs/snapshot_format.md describes them."""

import struct

from payload import Invalid, Payload, text_of_type, without_name

VERSION = 1
HEADER = struct.Struct("<12I2Q")
PLACEMENTS = ("dense", "stable", "recycling")


class SavedValue(Payload):
    """What a payload says of a value."""

    def __init__(self, payload):
        super().__init__(payload)
        self.found, _ = self.nameless_elements(1)
        self.require_end()

    def document(self):
        return self.found


class SavedPool(Payload):
    """What a payload says of a pool. Objects have handles, and bytes of the payload in each column."""

    def __init__(self, payload):
        super().__init__(payload)
        (widths, placement, self.id, self.fresh_generation, slots, objects, reserved, waiting, threads, returned, self.retired, _, _,
         _) = self.unpack(HEADER, "the numbers of a pool")
        self.widths = tuple(widths >> shift & 255 for shift in (0, 8, 16, 24))
        self.placement = self.name_of(PLACEMENTS, placement, 4, "placement")
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
        (columns,) = self.unpack(struct.Struct("<I"), "the bytes of a number")
        read = [self.elements(objects) for _ in range(min(columns, len(payload)))]
        self.columns = [found for found, _ in read]
        self.is_rows = columns != 1 or bool(self.columns[0]["name"])
        self.objects = [self.object(i, slot, [where[i] for _, where in read]) for i, slot in enumerate(self.slots)]
        self.require_end()

    def object(self, i, slot, where):
        """Without rows, the object has its bytes itself."""
        parts = [{"offset": offset, "bytes": size} for offset, size in where]
        found = {"handle": self.handle(slot)}
        if self.is_rows:
            found["columns"] = [{"name": column["name"]} | part for column, part in zip(self.columns, parts)]
        else:
            found |= parts[0]
        if self.places is not None:
            found["place"] = self.places[i]
        return found

    def handle(self, slot):
        index_bits, generation_bits = self.widths[:2]
        return f"{slot | (self.generations[slot] | self.id << generation_bits) << index_bits:#x}"

    def document(self):
        """What the JSON says of it, but for its objects."""
        found = {"id": self.id, "placement": self.placement, "objects": len(self.slots), "slots": len(self.generations),
                 "reserved": len(self.reserved), "waiting": len(self.waiting), "claimed": len(self.claimed),
                 "returned": len(self.returned), "retired": self.retired}
        if self.is_rows:
            return found | {"columns": self.columns}
        return found | without_name(self.columns[0])


def lines_of(found):
    """What document() has of a pool, in lines."""
    what = "rows" if "columns" in found else f"objects, {text_of_type(found)}"
    lines = [f"{found['placement']}, pool id {found['id']}, {found['objects']} {what}; "
             f"{found['slots']} slots, {found['reserved']} reserved, {found['retired']} retired"]
    return lines + [f"  column {each['name']}: {text_of_type(each)}" for each in found.get("columns", ())]
