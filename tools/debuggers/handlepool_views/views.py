# SPDX-License-Identifier: MIT
"""From the name of a type to what is shown of it."""

import re

from . import containers, handles, pools, properties, services


class HandleView:
    """Of a handle, whose bits the front end reads: it may be in a register."""

    def __init__(self, target, of_type, value):
        self._target = target
        self._type = of_type
        self._value = value

    def summary(self):
        layout = handles.Layout(self._type.argument(1).name)
        return handles.describe(self._target, layout, self._value, self._type.argument(0).name)


# By the name of the template or class. Each has summary(), and children(), which yields (name, type, address):
# without a type, the address itself is what there is to show.
VIEWS = {
    "pool": pools.View,
    "raw_pool": pools.View,
    "detail::pool_impl": pools.View,
    "basic_service": services.View,
    "handle_set": containers.SetView,
    "handle_map": containers.MapView,
    "handle_index": containers.IndexView,
    "hierarchy": containers.HierarchyView,
    "property_bag": properties.BagView,
    "property_view": properties.BagView,
    "property_store": properties.StoreView,
    "detail::bag_header": properties.HeaderView,
}

HANDLE = re.compile(r"^handlepool::handle<.*>$", re.DOTALL)


def view_name(type_name):
    """The name in VIEWS, or None."""
    found = re.match(r"^handlepool::([a-z_:]+)(<.*>)?$", type_name, re.DOTALL)
    return found.group(1) if found and found.group(1) in VIEWS else None


def view_of(place):
    """The view of an object, whose type must be one that view_name() knows."""
    return VIEWS[view_name(place.type.name)](place)
