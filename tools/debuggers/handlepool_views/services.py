"""A service, whose children are its pools."""

from . import pools
from .handles import Layout
from .memory import Array, Vector


class View:
    def __init__(self, place):
        self._directory = place["pools_"]
        self._layout = Layout(place.type.argument(0).name)
        self._pools = Vector(self._directory["pools_"])

    def summary(self):
        return f"service of {self._pools.size} {'pool' if self._pools.size == 1 else 'pools'}"

    def children(self):
        """The pools in the order in which they were added."""
        ids = dict(self._addresses_with_ids())
        for pool in self._pools:
            address = pool.pointer()
            if address not in ids:
                continue  # is being added, or removed
            _, found = pools.find(pool.memory, self._layout.widths(), ids[address])
            if found is None:
                yield f"[pool id {ids[address]}]", None, address
                continue
            of_type = found.type(pool.memory)
            yield f"[{found.name}]", of_type, found.core if of_type is not None else address

    def _addresses_with_ids(self):
        """By what handles are routed."""
        routes = Array(self._directory["routes_"]["routes_"])
        memory = routes.memory.read(routes.data, 8 * routes.size)
        for pool_id in range(routes.size):
            address = int.from_bytes(memory[8 * pool_id:8 * pool_id + 8], "little")
            if address != 0:
                yield address, pool_id
