"""Containers that are keyed by handles: sets, maps, indices, hierarchies."""

from .handles import Layout, short_name
from .memory import Vector


class _Members:
    """Of a member_list: the handles, in the order of what belongs to them."""

    def __init__(self, place):
        self._place = place
        self._handles = Vector(place["members_"]["handles_"])

    def _count(self, one, more):
        return f"{self._handles.size} {one if self._handles.size == 1 else more}"

    def _named(self):
        """Yields (name, place) of the handles."""
        layout = Layout(self._handles.element.argument(1).name)
        for handle in self._handles:
            yield f"[{short_name(layout, handle['value_'].number())}]", handle


class SetView(_Members):
    def summary(self):
        return self._count("handle", "handles")

    def children(self):
        for number, handle in enumerate(self._handles):
            yield f"[{number}]", handle.type, handle.address


class MapView(_Members):
    def summary(self):
        return self._count("value", "values")

    def children(self):
        values = Vector(self._place["values_"])
        for (name, _), value in zip(self._named(), values):
            yield name, value.type, value.address


class IndexView(_Members):
    """Shows the key of each handle."""

    def summary(self):
        return self._count("key", "keys")

    def children(self):
        keys = Vector(self._place["keys_"])
        for (name, _), pointer in zip(self._named(), keys):
            key = pointer.deref()
            yield name, key.type, key.address


class HierarchyView(_Members):
    """Shows the parent of each node; null for a root."""

    def summary(self):
        roots = Vector(self._place["roots_"]).size
        return f"{self._count('node', 'nodes')}, {roots} {'root' if roots == 1 else 'roots'}; the parent of each"

    def children(self):
        nodes = Vector(self._place["nodes_"])
        for (name, _), node in zip(self._named(), nodes):
            parent = node["parent"]
            yield name, parent.type, parent.address
