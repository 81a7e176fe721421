# SPDX-License-Identifier: MIT
"""Runs in gdb: evaluates each expression of handlepool.natvis on objects of program.cpp, and lists what it would show.

gdb stands in for Visual Studio: members, offsets and values are checked, but not how that debugger reads the file.
"""

import os
import re
import xml.etree.ElementTree as xml

import gdb

NATVIS = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"
# Elements, and the attributes that they may have; as in the schema that Microsoft publishes.
ALLOWED = {
    "AutoVisualizer": set(), "Type": {"Name", "Priority"}, "DisplayString": {"Condition"}, "Expand": set(),
    "Item": {"Name", "Condition"}, "ExpandedItem": set(), "CustomListItems": {"Condition", "MaxItemsPerView"},
    "Variable": {"Name", "InitialValue"}, "Loop": {"Condition"}, "If": {"Condition"}, "Exec": set(),
}
# The objects that each function of program.cpp has, and which stop in it is meant, in order.
OBJECTS = [
    ("handle_projection", ["alive", "null", "any", "keyed", "member", "ships.core_", "teams.core_", "keyed_ships.core_"]),
    ("look_at_pools", ["ships", "ships.core_", "rocks.core_", "sprites.core_", "movers.core_", "things", "things.core_"]),
    ("look_at_containers", ["fleet", "cargo", "by_number", "squadron"]),
    ("look_at_properties", ["sheet", "empty"]),
    ("look_at_a_service", ["service", "POOL_OF_SERVICE"]),
]


def parts(type_name):
    """The name of a template, and its arguments."""
    template, bracket, rest = type_name.partition("<")
    arguments, depth = [""], 0
    for character in rest[:-1]:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += character
    return template, arguments if bracket else []


def match(pattern, type_name):
    """What the wildcards stand for, or None. One stands for an argument; at the end, for all further ones, too."""
    if pattern == "*":
        return [type_name]
    (wanted, wanted_arguments), (found, found_arguments) = parts(pattern), parts(type_name)
    if wanted_arguments[-1:] == ["*"]:
        del found_arguments[len(wanted_arguments):]
    if wanted != found or len(wanted_arguments) != len(found_arguments):
        return None
    types = []
    for each, argument in zip(wanted_arguments, found_arguments):
        inner = match(each, argument)
        if inner is None:
            return None
        types += inner
    return types


class View:
    """A Type element."""

    def __init__(self, element):
        self.element = element
        self.name = element.get("Name").replace(" ", "")
        self.used = False

    def match(self, type_name):
        """What the wildcards are, or None."""
        return match(self.name, re.sub(r"\b(\d+)u\b", r"\1", type_name.replace(" ", "")))


class Object:
    """An object of the program, under a view."""

    def __init__(self, view, types, value):
        self._element = view.element
        self._types = types
        self._variables = set()
        gdb.set_convenience_variable("self", value.address)

    def evaluate(self, expression):
        text = re.sub(r"\$T(\d)", lambda found: self._types[int(found.group(1)) - 1], expression)
        text = re.sub(r"(?<![\w.>$])([a-z_]+_)\b", r"$self->\1", text)
        for name in self._variables:
            text = re.sub(rf"(?<![\w.>$]){name}\b", f"${name}", text)
        return gdb.parse_and_eval(text)

    def text(self, display):
        """With what stands in braces evaluated."""
        def shown(found):
            expression, _, form = found.group(1).rpartition(",") if re.search(r",\w+$", found.group(1)) \
                else (found.group(1), "", "")
            value = self.evaluate(expression)
            if form == "sb":
                return value.string()
            if form in ("d", "x"):
                return format(int(value), form)
            return f"<{value.type.strip_typedefs().unqualified().name.split('<')[0]}>"
        return re.sub(r"\{([^{}]+)\}", shown, display)

    def lines(self):
        for display in self._element.findall(f"{NATVIS}DisplayString"):
            text = self.text(display.text)  # all are to be right, also those that are not shown
            condition = display.get("Condition")
            if condition is None or self.evaluate(condition):
                yield text
                break
        for expand in self._element.findall(f"{NATVIS}Expand"):
            for child in expand:
                yield from self._children(child)

    def _children(self, child):
        kind = child.tag.removeprefix(NATVIS)
        if kind == "CustomListItems":
            condition = child.get("Condition")
            if condition is None or self.evaluate(condition):
                yield from self._run(child)
        elif kind in ("Item", "ExpandedItem"):
            yield f"  {child.get('Name') or '...'} {self._shown(child.text)}"

    def _shown(self, expression):
        pointer, _, count = expression.partition(",[")
        value = self.evaluate(f"*({pointer})@({count[:-1]})" if count else expression.removesuffix(",d"))
        if expression.endswith(",d"):
            return str(int(value))
        of_type = value.type.strip_typedefs()
        if of_type.code == gdb.TYPE_CODE_STRUCT and "<" in str(of_type) or "std::byte *[" in str(of_type):
            return f"<{str(of_type.unqualified()).split('<')[0]}>"
        if of_type.code == gdb.TYPE_CODE_PTR and of_type.target().name != "char":
            return f"<{of_type}>"
        return re.sub(r"^0x\w+ ", "", value.format_string())

    def _run(self, code):
        """Interprets the code of a list."""
        for step in code:
            kind = step.tag.removeprefix(NATVIS)
            if kind == "Variable":
                self._variables.add(step.get("Name"))
                gdb.set_convenience_variable(step.get("Name"), self.evaluate(step.get("InitialValue")))
            elif kind == "Exec":
                self.evaluate(step.text)
            elif kind == "Item":
                yield f"  {self.text(step.get('Name'))} = {self._shown(step.text)}"
            elif kind == "If":
                if self.evaluate(step.get("Condition")):
                    yield from self._run(step)
            elif kind == "Loop":
                while self.evaluate(step.get("Condition")):
                    yield from self._run(step)


def views():
    root = xml.parse(os.environ["NATVIS"]).getroot()
    for element in root.iter():
        kind = element.tag.removeprefix(NATVIS)
        if kind not in ALLOWED or not set(element.keys()) <= ALLOWED[kind]:
            raise ValueError(f"{kind} {dict(element.attrib)} is not of the schema")
    found = [View(element) for element in root.findall(f"{NATVIS}Type")]
    return sorted(found, key=lambda view: view.element.get("Priority") != "High")  # stable


def first_pool_of(service, ships):
    """What a service owns: a pool as any pool. gdb does not find that type by the object's table of functions."""
    word = gdb.lookup_type("unsigned long").pointer()
    first_of_vector = service["pools_"]["pools_"].address.cast(word).dereference().cast(word).dereference()
    pool = ships.type.strip_typedefs().target().unqualified().strip_typedefs()
    owned = gdb.lookup_type(f"handlepool::detail::any_pool_adaptor<{pool} >")
    return first_of_vector.cast(owned.pointer()).dereference()


def look(name):
    if name == "POOL_OF_SERVICE":
        return first_pool_of(gdb.parse_and_eval("service"), gdb.parse_and_eval("ships"))
    return gdb.parse_and_eval(name)


def main(output):
    known = views()
    for command in ("set pagination off", "set confirm off", "set debuginfod enabled off"):
        gdb.execute(command)
    gdb.execute("break stop_here", to_string=True)
    for number, (function, names) in enumerate(OBJECTS):
        gdb.execute("run > /dev/null" if number == 0 else "continue", to_string=True)
        frame = gdb.newest_frame()
        while frame.name() != function:
            frame = frame.older()
        frame.select()
        for name in names:
            value = look(name)
            types = [value.type.strip_typedefs().unqualified()]
            types += [field.type for field in types[0].fields() if field.is_base_class]
            view, arguments, of_type = next((view, view.match(str(each)), each) for each in types for view in known
                                            if view.match(str(each)) is not None)
            view.used = True
            value = value.address.cast(of_type.pointer()).dereference()  # a base class, if the view is of one
            print(f"{name}: " + "\n".join(Object(view, arguments, value).lines()), file=output)
    gdb.execute("kill", to_string=True)
    for view in known:
        if not view.used:
            print(f"no object has the view of {view.name}", file=output)
    print("== end", file=output)


with open(os.environ["OUTPUT"], "w", encoding="utf-8") as written:
    main(written)
