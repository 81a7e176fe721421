# SPDX-License-Identifier: MIT
"""What the payloads of a snapshot are made of, as docs/snapshot_format.md describes them: numbers, and columns of elements."""

import struct

COLUMN = struct.Struct("<2I3Q2I")
ENCODINGS = ("bytes", "archive")


class Invalid(Exception):
    """A payload that is not what it claims; of the byte of the payload where that is seen."""

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

    def numbers(self, count, kind="I", what="numbers"):
        return self.unpack(struct.Struct(f"<{count}{kind}"), what)

    def elements(self, count):
        """What the JSON says of a column, or of values, and where the bytes of each element begin and how many there are."""
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

    def nameless_elements(self, count):
        """The same of elements that are no column."""
        found, where = self.elements(count)
        return without_name(found), where

    def archived(self, first, end, count):
        """None unless sizes and elements end together."""
        if 8 * count > end - first:
            return None
        where, offset = [], first + 8 * count
        for size in struct.unpack_from(f"<{count}Q", self.payload, first):
            where.append((offset, size))
            offset += size
        return where if offset == end else None


def without_name(found):
    """What elements() has found, but for the name of a column."""
    return {key: value for key, value in found.items() if key != "name"}


def text_of_type(found):
    """Of what elements() has found, in a few words."""
    text = f"{found['element_bytes']} bytes" if found["encoding"] == "bytes" else "archived"
    if found["type_version"]:
        text += f", version {found['type_version']}"
    return text + (f", layout '{found['layout']}'" if found.get("layout") else "")
