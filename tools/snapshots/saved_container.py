# SPDX-License-Identifier: MIT
"""The payload of a container in a snapshot, as docs/snapshot_format.md describes it."""

import struct

from payload import Invalid, Payload, text_of_type

VERSION = 1
FORM = struct.Struct("<2I")
HEADER = struct.Struct("<4I")
FORMS = ("handle_set", "handle_map", "handle_index", "hierarchy", "property_store")
SET, MAP, INDEX, HIERARCHY, STORE = range(5)
OPTIONS = {INDEX: ("refuse", "allow"), HIERARCHY: ("become_roots", "are_erased")}
STORE_HEADER = struct.Struct("<8sIIQ")
BAG = struct.Struct("<Q6xH")
BAG_HANDLE = 8
BAG_UNIT = 4


class SavedContainer(Payload):
    """What a payload says of a container. Members have handles, and bytes of the payload if they have values."""

    def __init__(self, payload):
        super().__init__(payload)
        widths, form = self.unpack(FORM, "widths and form")
        self.widths = tuple(widths >> shift & 255 for shift in (0, 8, 16, 24))
        if form >= len(FORMS):
            raise Invalid(4, f"form {form} is unknown; known are 0 to {len(FORMS) - 1}")
        self.form = form
        self.option = self.values = self.pool_id = None
        self.refused = []
        if form == STORE:
            self.read_store()
        else:
            self.read_members()
        self.require_end()

    def read_members(self):
        option, self.pool_id, count, refused = self.unpack(HEADER, "the header of a container")
        self.option = OPTIONS[self.form][option] if self.form in OPTIONS and option < 2 else None
        handles = self.numbers(count, "Q", "handles")
        self.members = [{"handle": f"{each:#x}"} for each in handles]
        if self.form in (MAP, INDEX):
            self.values, where = self.nameless_elements(count)
            for member, (offset, size) in zip(self.members, where):
                member |= {"offset": offset, "bytes": size}
        if self.form == INDEX:
            if option == 1:
                self.numbers(count, "I", "the order of keys")
            self.refused = [f"{each:#x}" for each in self.numbers(refused, "Q", "refused objects")]
        if self.form == HIERARCHY:
            parents = self.numbers(count, "I", "parents")
            for i, (member, parent, place) in enumerate(zip(self.members, parents, self.numbers(count, "I", "places"))):
                if parent > count:
                    raise Invalid(FORM.size + HEADER.size + 8 * count + 4 * i, f"node {i} has the parent {parent} of {count}")
                member |= {"parent": f"{handles[parent - 1]:#x}" if parent else None, "place": place}

    def read_store(self):
        magic, file_format, _, count = STORE_HEADER.unpack_from(self.payload, self.take(STORE_HEADER.size, "the header of a store"))
        if magic != b"hp bags\n" or file_format not in (1, 2):
            raise Invalid(FORM.size, "this is no store of properties of format 1 or 2")
        self.members = []
        for _ in range(count):
            first = self.take(BAG.size, "the handle and the header of a bag")
            handle, units = BAG.unpack_from(self.payload, first)
            size = units * BAG_UNIT
            self.next = first + BAG_HANDLE
            self.members.append({"handle": f"{handle:#x}", "offset": self.take(size, "a bag"), "bytes": size})
        self.next = len(self.payload)  # names and a checksum

    def document(self):
        """What the JSON says of it, but for its members."""
        found = {"form": FORMS[self.form], "members": len(self.members)}
        if self.pool_id is not None:
            found["pool_id"] = self.pool_id
        if self.option is not None:
            found["duplicates" if self.form == INDEX else "orphans"] = self.option
        if self.values is not None:
            found |= self.values
        if self.form == INDEX:
            found["refused"] = self.refused
        return found


def text_of(found):
    """What document() has, in a line."""
    pool = f", pool id {found['pool_id']}" if "pool_id" in found else ""
    value = "key" if found["form"] == "handle_index" else "value"
    values = ""
    if "encoding" in found:
        values = f", {value}s {'of ' if found['encoding'] == 'bytes' else ''}{text_of_type(found)}"
    refused = f", {len(found['refused'])} refused" if "refused" in found else ""
    return f"{found['form']}{pool}, {found['members']} members{values}{refused}"


def member_text(member):
    """A member, in a line."""
    text = member["handle"]
    if "offset" in member:
        text += f"  byte {member['offset']}, {member['bytes']} bytes"
    if "place" in member:
        text += f"  place {member['place']} " + (f"below {member['parent']}" if member["parent"] else "among the roots")
    return text
