#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a service, inspects it, and works on its objects in place.

usage: inspect_service.py LIBRARY [--without-numpy]

By numpy where it is installed, else by struct and memoryview: neither copies the objects.
"""

import json
import struct
import sys

import handlepool

try:
    if "--without-numpy" in sys.argv:
        raise ImportError
    import numpy
except ImportError:
    numpy = None

SHIP = struct.Struct("<ddq")  # x, speed, hull


def print_pools(service):
    stats = service.stats()
    print(f"after {stats['frames']} frames:")
    for pool in stats["pools"]:
        print(f"  {pool['name']:8} {pool['alive']:6} alive, {pool['dense']:6} items, {pool['waiting_removals']:5} to remove")


def fly_by_numpy(ships):
    """Moves all ships, and returns the handles of those that are out of sight."""
    with ships.items() as memory:
        table = numpy.frombuffer(memory, dtype=[("x", "<f8"), ("speed", "<f8"), ("hull", "<i8")])
        assert numpy.shares_memory(table, memory)
        table["x"] += table["speed"]
        far = table["x"] > 1000
        del table
    return numpy.frombuffer(ships.handles(), dtype="<u8")[far].tolist()


def fly_by_struct(ships):
    """The same."""
    far = []
    handles = ships.handles()
    with ships.items() as memory:
        for position, (x, speed, hull) in enumerate(SHIP.iter_unpack(memory)):
            SHIP.pack_into(memory, position * SHIP.size, x + speed, speed, hull)
            if x + speed > 1000:
                far.append(handles[position])
    return far


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) > 1 else 2
    library = handlepool.Library(sys.argv[1])
    with handlepool.Service(library) as service:
        ships = service.add_pool("ships", SHIP.size, 20000, remember_frames=True)
        service.add_pool("rockets", 8, 100)
        fleet = [ships.insert(SHIP.pack(i / 10, 1.0, 100)) for i in range(10000)]
        service.compact()
        print_pools(service)

        far = (fly_by_numpy if numpy else fly_by_struct)(ships)
        with ships.at(fleet[500]) as memory:
            assert SHIP.unpack(memory) == (51.0, 1.0, 100)  # the object itself has moved
        assert far == fleet[9991:], (len(far), fleet.index(far[0]))
        for handle in far:
            assert service.erase(handle) and handle not in service
        print_pools(service)
        service.compact()
        print_pools(service)
        assert len(ships) == 10000 - len(far) and service.stats()["pools"][0]["dense"] == len(ships)

        # A handle survives JSON, whose numbers are doubles elsewhere.
        saved = json.dumps({"flagship": float(fleet[0])})
        assert int(json.loads(saved)["flagship"]) == fleet[0] and fleet[0] in ships
        print(service.describe(far[0]))
        try:
            with ships.at(far[0]):
                raise AssertionError("a stale handle was found")
        except handlepool.Error as error:
            assert error.code == "HANDLEPOOL_ERROR_STALE"
            print(error)

        # Memory that was seen under a guard can't be used after it.
        with ships.items() as memory:
            pass
        try:
            memory[0]
            raise AssertionError("memory is used without a guard")
        except ValueError:
            pass
        print("by numpy" if numpy else "by struct")

    # Nor a pool after its service.
    for use in (lambda: len(ships), lambda: ships.insert(bytes(SHIP.size)), lambda: fleet[0] in service):
        try:
            use()
            raise AssertionError("a service is used after its end")
        except ValueError:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
