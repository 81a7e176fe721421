# SPDX-License-Identifier: MIT
"""Where program.cpp stops, and what is printed there."""

# (function, expressions), in the order of the calls of stop_here(). gdb and lldb print each expression.
STOPS = [
    ("handle_projection", ["alive", "erased", "reused", "revoked", "reserved", "cancelled", "newborn", "just_erased",
                         "null", "any", "never", "of_no_pool", "member", "keyed", "strange", "ships", "teams"]),
    ("look_at_pools", ["ships", "rocks", "sprites", "movers", "things", "first", "second", "thing"]),
    ("look_at_containers", ["fleet", "cargo", "by_number", "squadron", "none"]),
    ("look_at_properties", ["sheet", "empty", "sheets"]),
    ("look_at_a_service", ["service", "any", "ships", "same"]),
    ("look_while_emplacing", ["slow"]),
    ("look_after_the_end", ["*ships"]),
    ("look_after_the_end", ["*ships", "handle"]),
    ("look_at_large_numbers", ["veteran", "late", "old_ships", "shared", "pebbles", "letter"]),
    # With different bytes on the stack.
    *5 * [("look_before_they_are_made", ["*service", "*sheets", "*sheet"])],
    *3 * [("look_at_containers_before_they_are_made", ["*fleet", "*cargo", "*by_number", "*squadron", "*undefined"])],
    ("look_at_a_list_in_circles", ["ships", "strangers"]),
    ("look_at_recorded_lives", ["alive", "erased", "extracted", "revoked_one", "revoked", "cancelled", "forgotten", "sunk"]),
]
