# SPDX-License-Identifier: MIT
"""The payloads of a snapshot, as docs/snapshot_format.md describes them: pools, and values."""

import struct

VERSION = 1
HEADER = struct.Struct("<12I2Q")
COLUMN = struct.Struct("<2I3Q2I")
PLACEMENTS = ("dense", "stable", "recycling")
ENCODINGS = ("bytes", "archive")


class Invalid(Exception):
    """A payload that is no pool; of the byte of the payload where that is seen."""

    def __init__(self, offset, problem):
        super().__init__(problem)
        self.offset = offset


class Payload:
    """Numbers and elements, of which each has bytes of the payload."""

    def __init__(self, payload):
        self.payload, self.next = payload, 0

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

    def unpack(self, layout, what):
        return layout.unpack_from(self.payload, self.take(layout.size, what))

    def text(self, size, what):
        first = self.take(size, what)
        return bytes(self.payload[first:first + size]).decode(errors="replace")

    def require_end(self):
        if self.next != len(self.payload):
            raise Invalid(self.next, f"the payload is expected to end, and {len(self.payload) - self.next} bytes are there")

    def elements(self, count):
        """What the JSON says of a column, or of a value, and where the bytes of each element begin and how many there are."""
        first = self.next
        encoding, version, size, alignment, total, name_size, layout_size = self.unpack(COLUMN, "the numbers of a column")
        found = {"name": self.text(name_size, "the bytes of a name"), "encoding": self.name_of(ENCODINGS, encoding, first, "encoding"),
                 "type_version": version}
        layout = self.text(layout_size, "the bytes of a layout")
        end = self.take(total, "elements") + total
        if encoding == 0:
            found |= {"element_bytes": size, "element_alignment": alignment, "layout": layout}
            where = [(end - total + i * size, size) for i in range(count)] if total == count * size else None
        else:
            where = self.archived(end - total, end, count)
        if where is None:
            raise Invalid(end - total, f"{count} elements are expected, which {total} bytes are not")
        return found, where

    def archived(self, first, end, count):
        """None unless sizes and elements end together."""
        if 8 * count > end - first:
            return None
        where, offset = [], first + 8 * count
        for size in struct.unpack_from(f"<{count}Q", self.payload, first):
            where.append((offset, size))
            offset += size
        return where if offset == end else None


class SavedValue(Payload):
    """What a payload says of a value."""

    def __init__(self, payload):
        super().__init__(payload)
        found, _ = self.elements(1)
        self.require_end()
        self.found = {key: value for key, value in found.items() if key != "name"}

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

    def numbers(self, count):
        return struct.unpack_from(f"<{count}I", self.payload, self.take(4 * count, "numbers"))

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
        return found | {key: value for key, value in self.columns[0].items() if key != "name"}


def text_of_type(found):
    """Of what elements() has found, in a few words."""
    text = f"{found['element_bytes']} bytes" if found["encoding"] == "bytes" else "archived"
    if found["type_version"]:
        text += f", version {found['type_version']}"
    return text + (f", layout '{found['layout']}'" if found.get("layout") else "")


def lines_of(found):
    """What document() has of a pool, in lines."""
    what = "rows" if "columns" in found else f"objects, {text_of_type(found)}"
    lines = [f"{found['placement']}, pool id {found['id']}, {found['objects']} {what}; "
             f"{found['slots']} slots, {found['reserved']} reserved, {found['retired']} retired"]
    return lines + [f"  column {each['name']}: {text_of_type(each)}" for each in found.get("columns", ())]
