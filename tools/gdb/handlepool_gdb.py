# SPDX-License-Identifier: MIT
"""Pretty printers for handlepool: `source tools/gdb/handlepool_gdb.py` in gdb."""

import os
import sys

import gdb
import gdb.printing

# Beside this file's folder, in the source tree and where it is installed. Not __file__: of nested scripts, gdb names the outer.
here = os.path.dirname(os.path.abspath(sys._getframe().f_code.co_filename))
sys.path.insert(0, os.path.join(here, os.pardir, "debuggers"))

from handlepool_views import lives, memory, views  # noqa: E402


class GdbType(memory.Type):
    def __init__(self, of_type):
        self.gdb = of_type.strip_typedefs().unqualified()
        self.name = str(self.gdb)
        self.size = self.gdb.sizeof
        self._fields = None

    def fields(self):
        if self._fields is None:
            self._fields = []
            if self.gdb.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
                for field in self.gdb.fields():
                    if hasattr(field, "bitpos"):  # no static member
                        name = None if field.is_base_class else field.name
                        self._fields.append((name, field.bitpos // 8, GdbType(field.type)))
        return self._fields

    def argument(self, number):
        return GdbType(self.gdb.template_argument(number))

    def target(self):
        return GdbType(self.gdb.target())


class GdbTarget(memory.Target):
    def _read(self, address, size):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except (gdb.MemoryError, gdb.error) as error:
            raise memory.Unreadable(address) from error

    def symbol(self, name):
        try:
            return int(gdb.parse_and_eval(f"(unsigned long)&'{name}'"))
        except gdb.error:
            return None

    def find_type(self, name):
        try:
            return GdbType(gdb.lookup_type(name))
        except gdb.error:
            return None

    def parameter_of_function(self, address):
        block = gdb.block_for_pc(address)
        while block is not None and block.function is None:
            block = block.superblock
        if block is None:
            return None
        parameters = block.function.type.fields()
        return GdbType(parameters[0].type.target()) if parameters else None

    def code_name(self, address):
        block = gdb.block_for_pc(address - 1)
        line = gdb.find_pc_line(address - 1)
        # Of a call that was inlined, gdb does not tell the line.
        place = f" at {os.path.basename(line.symtab.filename)}:{line.line}" if line.symtab is not None else ""
        name = None
        while block is not None and not block.is_global:
            if block.function is not None:
                name = block.function.name
                if not lives.is_of_library(name):
                    break
                place = ""
            block = block.superblock
        return name and lives.short_function_name(name) + place

    def basic_type(self, name, count=None):
        of_type = gdb.lookup_type(name)
        return GdbType(of_type if count is None else of_type.array(count - 1))


TARGET = GdbTarget()


def value_at(of_type, address):
    if of_type is None:
        return gdb.Value(address).cast(gdb.lookup_type("void").pointer())
    if not TARGET.is_readable(address):
        return f"<{memory.Unreadable(address)}>"  # of the value itself, gdb would print nothing at all
    return gdb.Value(address).cast(of_type.gdb.pointer()).dereference()


class HandlePrinter:
    def __init__(self, value):
        self._value = value

    def to_string(self):
        bits = self._value["value_"]
        if bits.is_optimized_out:
            return "<optimized out>"
        try:
            return views.HandleView(TARGET, GdbType(self._value.type), int(bits)).summary()
        except (memory.Unreadable, memory.NoSuchMember) as error:
            return f"<{error}>"


class Printer:
    """Of what is in memory."""

    def __init__(self, value):
        self._view = None
        self._trouble = None
        if value.is_optimized_out or value.address is None:
            self._trouble = "<optimized out>"
            return
        try:
            place = memory.Place(TARGET, GdbType(value.type), int(value.address))
            self._view = views.view_of(place)
            self._summary = self._view.summary()
        except (memory.Unreadable, memory.NoSuchMember) as error:
            self._trouble = f"<{error}>"

    def to_string(self):
        return self._trouble or self._summary

    def children(self):
        if self._trouble is not None:
            return
        try:
            for name, of_type, address in self._view.children():
                yield name, value_at(of_type, address)
        except (memory.Unreadable, memory.NoSuchMember) as error:
            yield "trouble", f"<{error}>"


class Printers(gdb.printing.PrettyPrinter):
    """All types of the library, for `info pretty-printer` and `disable pretty-printer`."""

    def __init__(self):
        super().__init__("handlepool")

    def __call__(self, value):
        name = str(value.type.strip_typedefs().unqualified())
        if not name.startswith("handlepool::"):
            return None
        if views.HANDLE.match(name):
            return HandlePrinter(value)
        return Printer(value) if views.view_name(name) else None


gdb.printing.register_pretty_printer(None, Printers(), replace=True)
