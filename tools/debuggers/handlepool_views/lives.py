# SPDX-License-Identifier: MIT
"""Who began and ended the lives of objects, as a pool that records it knows."""

import re

from .memory import Array, optional, printable

# As detail/recorder/ has them.
EVENTS = ["not recorded", "created", "loaded", "given this handle", "erased", "cleared", "extracted", "drained", "revoked", "undone",
          "cancelled", "forgotten"]
RENAMED = EVENTS.index("given this handle")
REVOKED = EVENTS.index("revoked")
UNDONE = EVENTS.index("undone")
SITE_BITS = 48
DEPOT_ENTRY = 1 << (SITE_BITS - 1)
FRAME_BITS = 27
UNDONE_BIT = 16  # above the event
VALUE_SIZE = 128
IS_TEXT = 1 << 63
THREAD_CHARS = 32
ALL = (1 << 64) - 1


def frames_ago(frames):
    if frames == 0:
        return " in this frame"
    return " 1 frame ago" if frames == 1 else f" {frames} frames ago"


class Record:
    """The beginning or the end of a life."""

    def __init__(self, who, stamp):
        self.generation = stamp >> 32
        self.event = stamp >> FRAME_BITS & UNDONE_BIT - 1
        self.is_undone = stamp >> FRAME_BITS & UNDONE_BIT != 0
        self.frame = stamp & (1 << FRAME_BITS) - 1
        self.site = who & (1 << SITE_BITS) - 1
        self.actor = who >> SITE_BITS


class Recorder:
    def __init__(self, place):
        self._memory = place.memory
        self._lives = Array(optional(place["lives_"]))
        waiting = optional(place["waiting_"])
        self._waiting = Array(waiting["ends_"])
        self._reach = waiting["reach_"].number()
        self._bits = place["lives_bits_"].number()
        self._mask = place["lives_mask_"].number()
        self._frame = place["frame_"].number()
        self._last_reset = place["last_reset_"]

    def lives_kept(self):
        """", and its last 2 lives are recorded", of a slot."""
        return ", and its last " + ("life is" if self._mask == 0 else f"{self._mask + 1} lives are") + " recorded"

    def beginning(self, index, generation):
        return self._read(self._life(index, generation)["beginning"], generation)

    def end(self, index, generation, may_wait=True):
        """Of a handle that was revoked, the beginning of the next one's life tells of it. That of a living object doesn't wait."""
        found = self._read(self._life(index, generation)["end"], generation)
        if may_wait and (found is None or found.is_undone):
            found = self._waiting_end(index, generation) or found
        following = self.beginning(index, generation + 2)
        is_revoked = following is not None and following.event == RENAMED
        if is_revoked and (found is None or found.is_undone and not following.is_undone):
            following.event = REVOKED
            return following
        return found

    def frames_ago(self, record):
        return self._frame - record.frame & (1 << FRAME_BITS) - 1

    def last_reset(self, generation):
        return self._read(self._last_reset, generation)

    def text(self, record):
        return EVENTS[record.event] + self.after_event(record)

    def after_event(self, record):
        text = frames_ago(self.frames_ago(record))
        thread, task = self._actor(record.actor)
        if thread:
            text += f' by thread "{thread}"'
        if task:
            text += f'{"," if thread else " by"} task "{task}"'
        site = self._site(record.site)
        return text + (f" in {site}" if site else "")

    def _life(self, index, generation):
        return self._lives[index << self._bits | generation >> 1 & self._mask]

    def _waiting_end(self, index, generation):
        """An end that waits for a compaction, as waiting_ends has it."""
        size = self._waiting.element.size
        ends = self._memory.read(self._waiting.data, self._reach * size)
        life = (index << 32 | generation).to_bytes(8, "little")
        for position in range(self._reach):
            if ends.startswith(life, position * size):
                return self._read(self._waiting[position], generation)
        return None

    @staticmethod
    def _read(entry, generation):
        who = entry["who"].number()
        product = who * 0x9E3779B97F4A7C15 & ALL
        found = Record(who, entry["stamp"].number() ^ product ^ product >> 32)
        return found if found.generation == generation and found.event < len(EVENTS) else None

    def _value(self, depot, number):
        """The bytes of an entry, or None."""
        address = self._memory.symbol(f"handlepool::detail::{depot}")
        if address is None or number == 0:
            return None
        entries = self._memory.pointer(address)
        return None if entries == 0 else self._memory.read(entries + number * self._memory.number(address + 8, 8), VALUE_SIZE)

    def _actor(self, number):
        value = self._value("listed_actors", number)
        if value is None:
            return "", ""
        text = value[8:]
        return _text(text[:THREAD_CHARS]), _text(text[THREAD_CHARS:])

    def _site(self, site):
        if site & DEPOT_ENTRY == 0:
            return self._code(site << self._code_alignment_bits()) if site != 0 else ""
        value = self._value("listed_sites", site & 0xFFFFFFFF)
        if value is None:
            return ""
        words = [int.from_bytes(value[i:i + 8], "little") for i in range(0, VALUE_SIZE, 8)]
        if words[0] & IS_TEXT:
            return _text(value[8:])
        return " < ".join(self._code(word) for word in words if word != 0)

    def _code_alignment_bits(self):
        address = self._memory.symbol("handlepool::detail::listed_code_alignment_bits")
        return self._memory.number(address, 4) if address is not None else 0

    def _code(self, address):
        return self._memory.code_name(address) or f"{address:#x}"


def _text(bytes_of_text):
    return printable(bytes_of_text.split(b"\0", 1)[0])


def is_of_library(function):
    """A function of handlepool's own, also by its symbol, where a debugger can't read that."""
    return re.match(r"handlepool::|_Z[ZNKVRO]*10handlepool", function) is not None


def short_function_name(function):
    """Without what the function takes and returns: see function_name.cpp."""
    depth, first, i = 0, 0, 0
    while i < len(function):
        rest = function[i:]
        if depth == 0 and rest.startswith("operator()"):
            i += len("operator()")
        elif depth == 0 and rest.startswith("(anonymous namespace)"):
            i += len("(anonymous namespace)")
        elif depth == 0 and (rest[0] == "(" or rest.startswith("operator")):
            break
        else:
            depth += rest[0] in "<{"
            depth -= rest[0] in ">}"
            i += 1
            if depth == 0 and rest[0] == " ":
                first = i
    last = function.find("(", i)
    return function[first:last if last >= 0 else None] + "()"
