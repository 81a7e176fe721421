# SPDX-License-Identifier: MIT
"""What examples/python/handlepool.py refuses, and with which words: usage: python_test.py LIBRARY"""

import _thread
import copy
import math
import pickle
import struct
import sys
import threading
import time
import unittest

import handlepool

LIBRARY = handlepool.Library(sys.argv.pop(1))
NUMBER = struct.Struct("<q")
NO_HANDLES = (2**53, 2**64, 2**64 + 1, -1, -2**63)
HANDLES = "a handle must be a whole number from 0 to 9007199254740991, and is "
SIZES = "must be a whole number from 1 to 18446744073709551615, and is "


class Refusals(unittest.TestCase):
    def setUp(self):
        self.service = handlepool.Service(LIBRARY)
        self.ships = self.service.add_pool("ships", NUMBER.size, 10)
        self.argo = self.ships.insert(NUMBER.pack(7))

    def tearDown(self):
        self.service.__exit__()

    def assert_refused(self, message, action, error=ValueError):
        with self.assertRaises(error) as refused:
            action()
        self.assertEqual(str(refused.exception), message)

    def uses_of(self, handle):
        return (lambda: self.ships.erase(handle), lambda: handle in self.ships, lambda: self.ships.at(handle).__enter__(),
                lambda: self.service.erase(handle), lambda: handle in self.service, lambda: self.service.describe(handle))

    def test_a_handle_is_a_number_of_53_bits(self):
        for number in (self.argo + 2**64, self.argo + 2**128, self.argo - 2**64, *NO_HANDLES):
            for use in self.uses_of(number):
                self.assert_refused(f"{HANDLES}{number}", use)
        self.assertIn(self.argo, self.ships)
        self.assertEqual(len(self.ships), 1)
        self.assertNotIn(2**53 - 1, self.ships)
        self.assertFalse(self.service.erase(handlepool.NULL))

    def test_a_handle_is_whole(self):
        for number in (float(self.argo), 0.5, math.nan, math.inf, str(self.argo), None, [self.argo], True, False):
            for use in self.uses_of(number):
                self.assert_refused(f"{HANDLES}{number!r}", use, TypeError)
        self.assertIn(self.argo, self.ships)

    def test_options_are_whole_numbers_that_fit(self):
        for name in ("capacity", "slot_limit", "removal_queue_size", "max_threads", "size"):
            for number, error in ((-1, ValueError), (0, ValueError), (2**64, ValueError), (2**64 + 8, ValueError),
                                  (8.0, TypeError), (math.nan, TypeError), ("8", TypeError), (True, TypeError)):
                options = {"size": 8, "capacity": 10, name: number}
                self.assert_refused(f"{name} {SIZES}{number!r}", lambda: self.service.add_pool("boats", **options), error)
        for number in (-1, 2**64 - 1, 2**64):
            self.assert_refused(f"reuse_delay must be a whole number from 0 to 18446744073709551614, and is {number}",
                                lambda: self.service.add_pool("boats", 8, 10, reuse_delay=number))
        for name, most in (("record_lives", 1024), ("record_stack", 15)):
            for number, error in ((-1, ValueError), (most + 1, ValueError), (2**64, ValueError), (2**64 + 1, ValueError),
                                  (1.0, TypeError), (True, TypeError)):
                self.assert_refused(f"{name} must be a whole number from 0 to {most}, and is {number!r}",
                                    lambda: self.service.add_pool("boats", 8, 10, **{name: number}), error)
        for number, error in ((0, ValueError), (-8, ValueError), (2**64 + 8, ValueError), (8.0, TypeError), (True, TypeError)):
            self.assert_refused(f"size {SIZES}{number!r}", lambda: self.service.pool("ships", number), error)
        for number in (0, -8, 2**21, 2**64):
            self.assert_refused(f"alignment must be a whole number from 1 to 1048576, and is {number}",
                                lambda: self.service.add_pool("boats", 8, 10, number))
        self.assert_refused("size 12 is no multiple of alignment 8", lambda: self.service.add_pool("boats", 12, 10))
        self.assert_refused("pool 'boats': capacity = 16777217 is not allowed; allowed are 1 to 16777216 by the handle's layout",
                            lambda: self.service.add_pool("boats", 8, 2**24 + 1), handlepool.Error)
        with self.assertRaises(TypeError):
            self.service.add_pool("boats", 8, 10, remember_frame=True)  # without an s
        self.assertEqual(len(self.service.stats()["pools"]), 1)

    def test_options_that_fit_arrive(self):
        self.service.add_pool("boats", 8, 10, reuse_delay=0, slot_limit=100, removal_queue_size=5, max_threads=64,
                              record_lives=1024, record_stack=15)
        self.service.add_pool("tugs", 8, 10, reuse_delay=7)
        boats, tugs = self.service.stats()["pools"][1:]
        self.assertEqual((boats["reuse_delay"], boats["slot_limit"], tugs["reuse_delay"]), (0, 100, 7))

    def test_a_name_is_a_text_without_zeros(self):
        self.assert_refused("the name of a pool must be without zero bytes, and is 'ships\\x00'",
                            lambda: self.service.add_pool("ships\0", 8, 10))
        self.assert_refused("the name of a pool must be a str, and is b'boats'",
                            lambda: self.service.add_pool(b"boats", 8, 10), TypeError)
        for name in ("ships\0", "\0"):
            with self.assertRaises(ValueError):
                self.service.pool(name, 8)
        strange = self.service.add_pool("a\nb\u20ac", 8, 10)
        self.assertEqual(self.service.stats()["pools"][1]["name"], "a\nb\u20ac")
        self.assertTrue(self.service.describe(strange.insert(bytes(8))).startswith("a\ufffdb\u20ac #0 generation 1"))

    def test_places_of_scripts_are_told(self):
        ships = self.service.add_pool("recorded", 8, 10, record_lives=1)
        with LIBRARY.called_from("spawn.py:12"):
            handle = ships.insert(bytes(8))
            with LIBRARY.called_from("ships.py:99"):
                self.service.erase(handle)
            other = ships.insert(bytes(8))
        self.assertRegex(self.service.describe(handle), r"erased in this frame by thread .* in ships\.py:99; created .* in spawn\.py:12$")
        self.assertRegex(self.service.describe(other), r"created .* in spawn\.py:12$")
        self.service.erase(other)
        self.assertNotIn("erased in this frame by thread \"python3\" in spawn", self.service.describe(other))

    def test_a_service_of_the_program_stays_the_program_s(self):
        self.assert_refused(f"the address of a service {SIZES}True", lambda: handlepool.Service(LIBRARY, True), TypeError)
        for address in (0, -1, 2**64):
            self.assert_refused(f"the address of a service {SIZES}{address}", lambda: handlepool.Service(LIBRARY, address))
        with handlepool.Service(LIBRARY, self.service._address.value) as borrowed:
            ships = borrowed.pool("ships", NUMBER.size)
            self.assertIn(self.argo, ships)
            with ships.at(self.argo) as memory:
                self.assertEqual(NUMBER.unpack(memory), (7,))
            with self.assertRaises(KeyError):
                borrowed.pool("boats", 8)
            self.assert_refused("an object of the pool has 8 bytes at most, not 9", lambda: borrowed.pool("ships", 9))
        self.assertIn(self.argo, self.ships)
        self.assert_refused("the service has ended", lambda: len(ships))

    def test_a_service_ends_once(self):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            for whole in (self.service, self.service.__class__(LIBRARY, self.service._address.value)):
                self.assert_refused("a service can be neither copied nor pickled: it ends once", lambda: duplicate(whole), TypeError)
        for duplicate in (copy.deepcopy, pickle.dumps):
            for part in (self.ships, {"of the game": [self.ships]}):
                self.assert_refused("a service can be neither copied nor pickled: it ends once", lambda: duplicate(part), TypeError)
        self.assertIn(self.argo, copy.copy(self.ships))  # another name of the same pool
        with self.ships.at(self.argo) as memory:
            with self.assertRaises(TypeError):
                pickle.dumps(memory)
        with handlepool.Service(LIBRARY) as other:
            boats = copy.copy(other.add_pool("boats", 8, 10))
        self.assert_refused("the service has ended", lambda: len(boats))

    def test_a_loop_over_handles_sees_each_object_once_whatever_moves(self):
        with self.ships.items():
            self.assert_refused("handlepool: pool 'ships': compaction was asked for by a thread that has made an access guard or spawners, "
                                "which still live", self.service.compact, handlepool.Error)
        for number in range(9):
            self.ships.insert(NUMBER.pack(number))
        self.service.compact()
        seen = []
        for handle in self.ships.handles():
            with self.ships.at(handle) as memory:
                seen.append(NUMBER.unpack(memory)[0])
            self.ships.erase(handle)
            self.service.compact()  # the last object moves to the place of this one
        self.assertEqual(sorted(seen), sorted([7, *range(9)]))

    def test_ctrl_c_is_noticed_when_the_view_that_a_compaction_waits_for_has_ended(self):
        main = threading.get_ident()
        viewed, ended = threading.Event(), threading.Event()

        def view():
            with self.ships.items():
                viewed.set()
                while sys._current_frames()[main].f_code.co_name != "compact":
                    time.sleep(0.001)
                time.sleep(0.05)
                _thread.interrupt_main()
                time.sleep(0.05)
                ended.set()

        viewer = threading.Thread(target=view)
        viewer.start()
        viewed.wait()
        with self.assertRaises(KeyboardInterrupt):
            self.service.compact()
        self.assertTrue(ended.is_set())
        self.assertEqual(self.service.stats()["frames"], 1)  # it was not given up
        viewer.join()

    def test_the_bytes_of_an_object_that_a_pool_doesn_t_know_of_are_zeros(self):
        whole = self.service.add_pool("whole", 4096, 10)
        with handlepool.Service(LIBRARY, self.service._address.value) as borrowed:
            begin = borrowed.pool("whole", 3)
            self.assert_refused("an object has 3 bytes, not 4", lambda: begin.insert(b"1234"))
            made = begin.insert(b"123")  # in whose neighbourhood Python has other bytes
            with begin.at(made) as memory:
                self.assertEqual(bytes(memory), b"123")
        with whole.at(made) as memory:
            self.assertEqual(bytes(memory), b"123" + bytes(4093))


if __name__ == "__main__":
    unittest.main()
