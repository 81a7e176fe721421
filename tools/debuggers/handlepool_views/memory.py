# SPDX-License-Identifier: MIT
"""Typed places in the memory of the program that is debugged, and how its texts are shown."""

import json
import re


MOST_AT_ONCE = 1 << 16  # bytes, of what may be large


CONTROLS = "[\x00-\x1f\x7f-\x9f]"


def printable(text):
    """A name, as detail/text/text.hpp prints it: it is any bytes, and a terminal obeys control characters."""
    return re.sub(CONTROLS, "\ufffd", text.decode("utf-8", "replace"))


def quoted(text):
    """As JSON has it."""
    escaped = json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False)
    return re.sub(CONTROLS, lambda found: f"\\u{ord(found[0]):04x}", escaped)


def short_name(type_name):
    """Without the arguments of templates, in which other names may be."""
    before = None
    while before != type_name:
        before, type_name = type_name, re.sub("<[^<>]*>", "", type_name)
    return type_name


class Unreadable(Exception):
    """Memory that can't be read: an address that means nothing, or a page that a core dump left out."""

    def __init__(self, address):
        super().__init__(f"no memory at {address:#x}")


class NoSuchMember(Exception):
    """The program's types are not those of this version of handlepool, or have no debug information."""

    def __init__(self, type_name, member):
        super().__init__(f"{short_name(type_name)} has no member {member}")


class NoDefinition(NoSuchMember):
    """The program's debug information declares a type, and doesn't say what is in it."""

    def __init__(self, type_name):
        Exception.__init__(self, f"the program has no debug information of {short_name(type_name)}")


class Type:
    """A type of the program. A debugger's front end derives from it."""

    name = ""  # without const and typedefs
    size = 0  # in bytes

    def fields(self):
        """Yields (name, offset, type) of each member that is no static one; the name of a base class is None."""
        raise NotImplementedError

    def argument(self, number):
        """The template argument, which is a type."""
        raise NotImplementedError

    def target(self):
        """What a pointer points to, or an array consists of."""
        raise NotImplementedError

    def member(self, wanted):
        """(offset, type) of a member, its own or one that it inherits."""
        found = self._find(wanted)
        if found is None:
            raise NoSuchMember(self.name, wanted)
        return found

    def has(self, wanted):
        return self._find(wanted) is not None

    def bases(self):
        """(offset, type) of all base classes, those of base classes included."""
        for name, offset, of_type in self.fields():
            if name is None:
                yield offset, of_type
                for further, base in of_type.bases():
                    yield offset + further, base

    def _find(self, wanted):
        bases = []
        for name, offset, of_type in self.fields():
            if name == wanted:
                return offset, of_type
            if name is None:
                bases.append((offset, of_type))
        for offset, base in bases:
            found = base._find(wanted)
            if found is not None:
                return offset + found[0], found[1]
        return None


class Target:
    """The program. A debugger's front end derives from it."""

    def read(self, address, size):
        """The bytes there, no more than a debugger can hold: see blocks(). Raises Unreadable."""
        if not 0 <= address <= address + size <= 1 << 64:
            raise Unreadable(address)
        return self._read(address, size)

    def _read(self, address, size):
        """The same, of addresses of 64 bits."""
        raise NotImplementedError

    def symbol(self, name):
        """The address of a variable, which need not have debug information; or None."""
        raise NotImplementedError

    def find_type(self, name):
        """The type of that name, or None."""
        raise NotImplementedError

    def parameter_of_function(self, address):
        """What the first parameter of the function points to, or None when nothing is known of it."""
        raise NotImplementedError

    def code_name(self, address):
        """The function, none of the library's, that has made the call before this address; and where, if that is known."""
        raise NotImplementedError

    def basic_type(self, name, count=None):
        """The fundamental type of that name, or an array of them."""
        raise NotImplementedError

    def blocks(self, address, size):
        """Yields the bytes there, some at a time: a size that means nothing ends where no memory is.

        Raises Unreadable.
        """
        for first in range(0, size, MOST_AT_ONCE):
            yield self.read(address + first, min(MOST_AT_ONCE, size - first))

    def is_readable(self, address):
        try:
            self.read(address, 1)
        except Unreadable:
            return False
        return True

    def number(self, address, size):
        return int.from_bytes(self.read(address, size), "little")

    def pointer(self, address):
        return self.number(address, 8)

    def text(self, address, most=256):
        """The bytes up to the zero."""
        found = bytearray()
        while len(found) < most:
            byte = self.read(address + len(found), 1)
            if byte == b"\0":
                break
            found += byte
        return bytes(found)


class Place:
    """An object of a known type at an address."""

    def __init__(self, target, of_type, address):
        self.memory = target
        self.type = of_type
        self.address = address

    def __getitem__(self, member):
        offset, of_type = self.type.member(member)
        return Place(self.memory, of_type, self.address + offset)

    def number(self):
        """The value of an unsigned number, an enumerator, or an atomic of one."""
        return self.memory.number(self.address, self.type.size)

    def pointer(self):
        """The address in a pointer, or in what consists of one, such as a std::unique_ptr."""
        return self.memory.pointer(self.address)

    def deref(self):
        """What a pointer points to."""
        return Place(self.memory, self.type.target(), self.pointer())


class Array:
    """A virtual_array."""

    def __init__(self, place):
        self.memory = place.memory
        self.data = place["memory_"]["data_"].pointer()
        self.size = place["size_"].number()
        self.element = place.type.argument(0)
        self._place = place

    def is_sound(self):
        """Is it made, and its memory there? Its memory knows its size, too."""
        size_of_memory = self._place["memory_"]["size_"].number()
        return size_of_memory == max(self.size * self.element.size, 1) and self.memory.is_readable(self.data)

    def __getitem__(self, position):
        return Place(self.memory, self.element, self.data + position * self.element.size)


class Vector:
    """A std::vector: begin, end and end of the memory, with libstdc++ and libc++ alike."""

    def __init__(self, place):
        self.memory = place.memory
        self.element = place.type.argument(0)
        self.data, self._end, self._limit = (place.memory.pointer(place.address + offset) for offset in (0, 8, 16))
        self.size = 0
        if self.data < self._end:
            if self.element.size == 0:
                raise NoDefinition(self.element.name)
            self.size = (self._end - self.data) // self.element.size

    def is_sound(self):
        """Is it made, and its memory there? A debugger that shows all elements would not come to the end of others."""
        if self.size == 0:
            return self.data == self._end <= self._limit
        return (self.data + self.size * self.element.size == self._end <= self._limit and
                self.memory.is_readable(self.data) and self.memory.is_readable(self._end - 1))

    def __getitem__(self, position):
        return Place(self.memory, self.element, self.data + position * self.element.size)

    def __iter__(self):
        return (self[position] for position in range(self.size))


def optional(place):
    """The value of a std::optional, or None. A byte behind the value says whether there is one."""
    value = place.type.argument(0)
    engaged = place.memory.number(place.address + value.size, 1) == 1
    return Place(place.memory, value, place.address) if engaged else None
