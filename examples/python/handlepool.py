# SPDX-License-Identifier: MIT
"""Pools and services of handlepool, by ctypes over the shared library of its C interface.

Handles are integers below 2**53. An error of the library is an Error with its code and its message. Objects are seen where they lie,
by `with pool.items() as memory:`, which holds compactions off meanwhile; struct, memoryview.cast and numpy.frombuffer read and
write such memory without a copy.
"""

import contextlib
import ctypes
import json
import operator

NULL = 0
_MOST_HANDLES = 2**53 - 1
_MOST_SIZE = 2 ** (8 * ctypes.sizeof(ctypes.c_size_t)) - 1  # as an option, HANDLEPOOL_NO_DELAY
_MOST_ALIGNMENT = 2**20


def _whole(what, number, least, most):
    """The number as an integer. Of one that is too large, ctypes would take the lower bits for the number."""
    try:
        if isinstance(number, bool):  # which has an index
            raise TypeError
        whole = operator.index(number)  # also those of numpy
    except TypeError:
        raise TypeError(f"{what} must be a whole number from {least} to {most}, and is {number!r}") from None
    if not least <= whole <= most:
        raise ValueError(f"{what} must be a whole number from {least} to {most}, and is {whole}")
    return whole


def _handle(number):
    return _whole("a handle", number, 0, _MOST_HANDLES)


def _name(text):
    """The bytes of a name. C would take it to end at a zero."""
    if not isinstance(text, str):
        raise TypeError(f"the name of a pool must be a str, and is {text!r}")
    if "\0" in text:
        raise ValueError(f"the name of a pool must be without zero bytes, and is {text!r}")
    return text.encode()


class _Description(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("alignment", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("destroy", ctypes.c_void_p),
        ("relocate", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
        ("reuse_delay", ctypes.c_size_t),
        ("slot_limit", ctypes.c_size_t),
        ("removal_queue_size", ctypes.c_size_t),
        ("max_threads", ctypes.c_size_t),
        ("record_lives", ctypes.c_size_t),
        ("record_stack", ctypes.c_size_t),
        ("remember_frames", ctypes.c_bool),
        ("keep_order", ctypes.c_bool),
    ]


class _Items(ctypes.Structure):
    _fields_ = [("first", ctypes.c_void_p), ("count", ctypes.c_size_t), ("stride", ctypes.c_size_t)]


class _Guard(ctypes.Structure):
    _fields_ = [("held", ctypes.c_void_p)]


_FUNCTIONS = {  # result, arguments; a handlepool_error is an int
    "version": (ctypes.c_uint32, []),
    "last_error": (ctypes.c_char_p, []),
    "error_name": (ctypes.c_char_p, [ctypes.c_int]),
    "free_text": (None, [ctypes.c_void_p]),
    "insert": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64)]),
    "erase": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64]),
    "contains": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64]),
    "at": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)]),
    "pool_size": (ctypes.c_size_t, [ctypes.c_void_p]),
    "items_of": (_Items, [ctypes.c_void_p]),
    "handles_of": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]),
    "begin_access": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_Guard)]),
    "end_access": (None, [ctypes.POINTER(_Guard)]),
    "service_create": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]),
    "service_destroy": (ctypes.c_int, [ctypes.c_void_p]),
    "service_add_pool": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_Description), ctypes.POINTER(ctypes.c_void_p)]),
    "service_pool": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
    "service_contains": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64]),
    "service_erase": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64]),
    "service_describe": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_uint64]),
    "service_stats": (ctypes.c_void_p, [ctypes.c_void_p]),
    "service_compact": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
    "place_named": (ctypes.c_uint64, [ctypes.c_char_p]),
    "set_place": (ctypes.c_uint64, [ctypes.c_uint64]),
}


class Error(Exception):
    """What the library refused, in its words; `code` is "HANDLEPOOL_ERROR_STALE", for example."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Library:
    """The functions of the shared library at a path, without their prefix "handlepool_"."""

    def __init__(self, path="libhandlepool_c.so.0.1"):
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, "handlepool_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        if self.version() // 1000 != 1:
            raise ImportError(f"{path} is version {self.version()}, and not 0.1")

    @contextlib.contextmanager
    def called_from(self, place):
        """Within it, what this thread does with pools that record lives is told as called from that place: "spawn.py:12"."""
        before = self.set_place(self.place_named(_name(place)))
        try:
            yield
        finally:
            self.set_place(before)

    def check(self, error):
        if error != 0:
            raise Error(self.error_name(error).decode(), self.last_error().decode(errors="replace"))

    def take_text(self, text):
        """A text that the caller of the library frees, as a string."""
        if text is None:
            raise Error("HANDLEPOOL_ERROR_OUT_OF_MEMORY", self.last_error().decode(errors="replace"))
        try:
            return ctypes.string_at(text).decode(errors="replace")
        finally:
            self.free_text(text)


class Pool:
    """A pool of a service: of objects of `size` bytes. len() is the number of living ones, `in` asks for a handle."""

    def __init__(self, service, address, size):
        self._service, self._in_service, self._library, self.size = service, address, service._library, size
        # What the library copies of an object, and has room for, is no more than that.
        self._stride = self._library.items_of(self._address).stride
        if size > self._stride:
            raise ValueError(f"an object of the pool has {self._stride} bytes at most, not {size}")

    @property
    def _address(self):
        self._service._address  # raises when it has ended, and the pool with it
        return self._in_service

    def __len__(self):
        return self._library.pool_size(self._address)

    def __contains__(self, handle):
        return self._library.contains(self._address, _handle(handle))

    def insert(self, data):
        """Creates an object from its bytes, and returns its handle. What the program's objects have beyond `size` is zero."""
        data = bytes(memoryview(data))  # of a buffer of whatever elements
        if len(data) != self.size:
            raise ValueError(f"an object has {self.size} bytes, not {len(data)}")
        handle = ctypes.c_uint64()
        self._library.check(self._library.insert(self._address, data.ljust(self._stride, b"\0"), handle))
        return handle.value

    def erase(self, handle):
        """Ends the object's life; False when it was gone."""
        return self._library.erase(self._address, _handle(handle))

    @contextlib.contextmanager
    def _guard(self):
        guard = _Guard()
        self._library.check(self._library.begin_access(self._address, guard))
        try:
            yield
        finally:
            self._library.end_access(guard)

    @contextlib.contextmanager
    def _view(self, address, length):
        # A view of no bytes can't be cast.
        whole = (ctypes.c_char * length).from_address(address) if length != 0 else bytearray()
        memory = memoryview(whole).cast("B")
        try:
            yield memory
        finally:
            with contextlib.suppress(BufferError):  # an array of numpy may still refer to it, and must not be used
                memory.release()

    @contextlib.contextmanager
    def at(self, handle):
        """The memory of an object; raises the Error that says why a handle is stale."""
        with self._guard():
            address = ctypes.c_void_p()
            self._library.check(self._library.at(self._address, _handle(handle), address))
            with self._view(address.value, self.size) as memory:
                yield memory

    @contextlib.contextmanager
    def items(self):
        """The memory of all objects that were alive at the last compaction, one after the other, as a memoryview."""
        with self._guard():
            items = self._library.items_of(self._address)
            with self._view(items.first, items.count * items.stride) as memory:
                yield memory

    def handles(self):
        """Their handles, in the same order, as an array of 64-bit integers that has the buffer protocol."""
        with self._guard():
            count = self._library.items_of(self._address).count
            handles = (ctypes.c_uint64 * count)()
            self._library.check(self._library.handles_of(self._address, 0, count, handles))
            return handles


class Service:
    """Many pools behind one kind of handle; ends with its `with`.

    With `address`, that of a handlepool_service of the program, which the program still owns: it must outlive the `with`.
    """

    def __init__(self, library, address=None):
        self._library, self._is_owned = library, address is None
        if self._is_owned:
            self._living = ctypes.c_void_p()
            library.check(library.service_create(None, self._living))
        else:
            self._living = ctypes.c_void_p(_whole("the address of a service", address, 1, _MOST_SIZE))

    def __reduce__(self):  # which copies call, too
        raise TypeError("a service can be neither copied nor pickled: it ends once")

    @property
    def _address(self):
        if self._living is None:
            raise ValueError("the service has ended")
        return self._living

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._is_owned:
            self._library.check(self._library.service_destroy(self._address))
        self._living = None

    def __contains__(self, handle):
        return self._library.service_contains(self._address, _handle(handle))

    def add_pool(self, name, size, capacity, alignment=8, *, reuse_delay=None, slot_limit=None, removal_queue_size=None,
                 max_threads=None, record_lives=0, record_stack=0, remember_frames=False, keep_order=False):
        """A new pool; `size` is a multiple of the alignment. Options that are None have their defaults, as handlepool.h says."""
        size = _whole("size", size, 1, _MOST_SIZE)
        alignment = _whole("alignment", alignment, 1, _MOST_ALIGNMENT)
        if size % alignment != 0:
            raise ValueError(f"size {size} is no multiple of alignment {alignment}")
        description = _Description(name=_name(name), size=size, alignment=alignment,
                                   capacity=_whole("capacity", capacity, 1, _MOST_SIZE),
                                   record_lives=_whole("record_lives", record_lives, 0, 1024),
                                   record_stack=_whole("record_stack", record_stack, 0, 15),
                                   remember_frames=remember_frames, keep_order=keep_order)
        if reuse_delay is not None:  # where 0 is none
            description.reuse_delay = _whole("reuse_delay", reuse_delay, 0, _MOST_SIZE - 1) or _MOST_SIZE
        for option, number in (("slot_limit", slot_limit), ("removal_queue_size", removal_queue_size), ("max_threads", max_threads)):
            if number is not None:
                setattr(description, option, _whole(option, number, 1, _MOST_SIZE))
        address = ctypes.c_void_p()
        self._library.check(self._library.service_add_pool(self._address, description, address))
        return Pool(self, address, size)

    def pool(self, name, size):
        """The pool of that name, of objects of `size` bytes, which the program has added; KeyError when there is none."""
        address = self._library.service_pool(self._address, _name(name))
        if address is None:
            raise KeyError(name)
        return Pool(self, ctypes.c_void_p(address), _whole("size", size, 1, _MOST_SIZE))

    def erase(self, handle):
        return self._library.service_erase(self._address, _handle(handle))

    def describe(self, handle):
        return self._library.take_text(self._library.service_describe(self._address, _handle(handle)))

    def compact(self):
        """Ends the frame. Waits for the views of other threads; Ctrl-C is noticed when these have ended, and the compaction is done."""
        self._library.check(self._library.service_compact(self._address, None))

    def stats(self):
        """The statistics of all pools, as a dictionary."""
        return json.loads(self._library.take_text(self._library.service_stats(self._address)))
