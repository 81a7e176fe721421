# SPDX-License-Identifier: MIT
"""Containers that are keyed by handles: sets, maps, indices, hierarchies."""

from .handles import Layout, short_name
from .memory import Place, Vector


class _Members:
    """Of a sparse_set: the handles, in the order of what belongs to them."""

    name = ""  # of the container
    beside = ()  # members that are vectors, the first of them of what belongs to the handles

    def __init__(self, place):
        self._handles = Vector(place["members_"]["handles_"])
        self._beside = [Vector(place[member]) for member in self.beside]

    def is_sound(self):
        """Is it made, and not destroyed?"""
        return all(each.is_sound() for each in (self._handles, *self._beside))

    def summary(self):
        return self._summary() if self.is_sound() else f"no {self.name}: not made yet, or destroyed"

    def children(self):
        if self.is_sound():
            yield from self._children()

    def _count(self, one, more):
        return f"{self._handles.size} {one if self._handles.size == 1 else more}"

    def _named(self):
        """Yields (name, place) of what belongs to the handles."""
        layout = Layout(self._handles.element.argument(1).name)
        for handle, own in zip(self._handles, self._beside[0]):
            yield f"[{short_name(layout, handle['value_'].number())}]", own


class SetView(_Members):
    name = "set"

    def _summary(self):
        return self._count("handle", "handles")

    def _children(self):
        for number, handle in enumerate(self._handles):
            yield f"[{number}]", handle.type, handle.address


class MapView(_Members):
    name = "map"
    beside = ("values_",)

    def _summary(self):
        return self._count("value", "values")

    def _children(self):
        for name, value in self._named():
            yield name, value.type, value.address


class IndexView(_Members):
    """Shows the key of each handle."""

    name = "index"
    beside = ("keys_",)

    def _summary(self):
        return self._count("key", "keys")

    def _children(self):
        for name, pointer in self._named():
            key = Place(pointer.memory, pointer.type.argument(0), pointer.pointer())["key"]
            yield name, key.type, key.address


class HierarchyView(_Members):
    """Shows the parent of each node; null for a root."""

    name = "hierarchy"
    beside = ("nodes_", "roots_")

    def _summary(self):
        roots = self._beside[1].size
        return f"{self._count('node', 'nodes')}, {roots} {'root' if roots == 1 else 'roots'}; the parent of each"

    def _children(self):
        for name, node in self._named():
            parent = node["parent"]
            yield name, parent.type, parent.address
