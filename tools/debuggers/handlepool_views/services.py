# SPDX-License-Identifier: MIT
"""A service, whose children are its pools."""

import struct

from . import pools
from .handles import Layout
from .memory import Array, Vector


class View:
    def __init__(self, place):
        self._directory = place["pools_"]
        self._layout = Layout(place.type.argument(0).name)
        self._pools = Vector(self._directory["pools_"])
        self._routes = Array(self._directory["routes_"]["routes_"])

    def is_sound(self):
        """Is it made, and not destroyed? It has a route for each pool id, and no more pools than these."""
        pool_ids = 1 << self._layout.pool_id
        return (self._routes.size == pool_ids and self._pools.size <= pool_ids and
                self._routes.is_sound() and self._pools.is_sound())

    def summary(self):
        if not self.is_sound():
            return "no service: not made yet, or destroyed"
        return f"service of {self._pools.size} {'pool' if self._pools.size == 1 else 'pools'}"

    def children(self):
        """The pools in the order in which they were added."""
        if not self.is_sound():
            return
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
        routes = self._routes
        pool_id = 0
        for block in routes.memory.blocks(routes.data, 8 * routes.size):
            for (address,) in struct.iter_unpack("<Q", block):
                if address != 0:
                    yield address, pool_id
                pool_id += 1
