# SPDX-License-Identifier: MIT
"""Formatters for handlepool: `command script import tools/lldb/handlepool_lldb.py` in lldb."""

import os
import sys

import lldb

# Beside this file's folder, in the source tree and where it is installed.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "debuggers"))

from handlepool_views import lives, memory, views  # noqa: E402

BASIC_TYPES = {"bool": lldb.eBasicTypeBool, "float": lldb.eBasicTypeFloat, "char": lldb.eBasicTypeChar,
               "void": lldb.eBasicTypeVoid}


class LldbType(memory.Type):
    def __init__(self, of_type):
        self.lldb = of_type.GetCanonicalType().GetUnqualifiedType()
        self.name = self.lldb.GetName()
        self.size = self.lldb.GetByteSize()
        self._fields = None

    def fields(self):
        if self._fields is None:
            bases = [self.lldb.GetDirectBaseClassAtIndex(i) for i in range(self.lldb.GetNumberOfDirectBaseClasses())]
            members = [self.lldb.GetFieldAtIndex(i) for i in range(self.lldb.GetNumberOfFields())]
            self._fields = [(None, each.GetOffsetInBytes(), LldbType(each.GetType())) for each in bases]
            self._fields += [(each.GetName(), each.GetOffsetInBytes(), LldbType(each.GetType())) for each in members]
        return self._fields

    def argument(self, number):
        return LldbType(self.lldb.GetTemplateArgumentType(number))

    def target(self):
        pointed = self.lldb.GetPointeeType()
        return LldbType(pointed if pointed.IsValid() else self.lldb.GetArrayElementType())


class LldbTarget(memory.Target):
    def __init__(self, target):
        self._target = target

    def _read(self, address, size):
        if size == 0:
            return b""
        error = lldb.SBError()
        # Of the target: a core dump leaves out what the program's file has.
        found = self._target.ReadMemory(lldb.SBAddress(address, self._target), size, error)
        if not error.Success() or found is None or len(found) != size:
            raise memory.Unreadable(address)
        return bytes(found)

    def symbol(self, name):
        for context in self._target.FindSymbols(name, lldb.eSymbolTypeData):
            address = context.GetSymbol().GetStartAddress().GetLoadAddress(self._target)
            if address != lldb.LLDB_INVALID_ADDRESS:
                return address
        return None

    def find_type(self, name):
        found = self._target.FindFirstType(name)
        return LldbType(found) if found.IsValid() else None

    def parameter_of_function(self, address):
        function = self._target.ResolveLoadAddress(address).GetFunction()
        if not function.IsValid():
            return None
        parameters = function.GetType().GetFunctionArgumentTypes()
        return LldbType(parameters.GetTypeAtIndex(0).GetPointeeType()) if parameters.GetSize() != 0 else None

    def code_name(self, address):
        context = self._target.ResolveLoadAddress(address - 1).GetSymbolContext(lldb.eSymbolContextEverything)
        entry = context.GetLineEntry()
        file, line = entry.GetFileSpec(), entry.GetLine()
        block, name = context.GetBlock(), context.GetFunction().GetName()
        while block.IsValid():
            if block.IsInlined():
                inlined = block.GetInlinedName()
                if not lives.is_of_library(inlined):
                    name = inlined
                    break
                file, line = block.GetInlinedCallSiteFile(), block.GetInlinedCallSiteLine()
            block = block.GetParent()
        return name and lives.short_function_name(name) + (f" at {file.GetFilename()}:{line}" if file.IsValid() else "")

    def basic_type(self, name, count=None):
        of_type = self._target.GetBasicType(BASIC_TYPES[name])
        return LldbType(of_type if count is None else of_type.GetArrayType(count))


def referred(value):
    """The object itself, of a reference too."""
    value = value.GetNonSyntheticValue()
    return value.Dereference().GetNonSyntheticValue() if value.GetType().IsReferenceType() else value


def view_of(value):
    """(the view, or None; what is wrong)"""
    value = referred(value)
    of_type = LldbType(value.GetType())
    address = value.GetLoadAddress()
    if address == lldb.LLDB_INVALID_ADDRESS:
        return None, "not available"
    try:
        return views.view_of(memory.Place(LldbTarget(value.GetTarget()), of_type, address)), None
    except (memory.Unreadable, memory.NoSuchMember) as error:
        return None, f"<{error}>"


def handle_summary(value, _):
    value = referred(value)
    error = lldb.SBError()
    bits = value.GetChildMemberWithName("value_").GetValueAsUnsigned(error, 0)
    if not error.Success():
        return "not available"
    try:
        return views.HandleView(LldbTarget(value.GetTarget()), LldbType(value.GetType()), bits).summary()
    except (memory.Unreadable, memory.NoSuchMember) as trouble:
        return f"<{trouble}>"


def summary(value, _):
    view, trouble = view_of(value)
    try:
        return trouble or view.summary()
    except (memory.Unreadable, memory.NoSuchMember) as error:
        return f"<{error}>"


class Children:
    """What lldb asks for the children of a value."""

    def __init__(self, value, _):
        self._value = value
        self._found = []
        self._rest = iter(())

    def update(self):
        view, _ = view_of(self._value)
        self._found = []
        self._rest = view.children() if view is not None else iter(())
        return False

    def has_children(self):
        return True

    def num_children(self, most):
        """No more are read than are shown: a pool may have millions."""
        self._read(most)
        return len(self._found)

    def get_child_at_index(self, index):
        self._read(index + 1)
        if index >= len(self._found):
            return None
        name, of_type, address = self._found[index]
        if of_type is None:
            pointer = self._value.GetTarget().GetBasicType(lldb.eBasicTypeVoid).GetPointerType()
            data = lldb.SBData.CreateDataFromUInt64Array(lldb.eByteOrderLittle, 8, [address])
            return self._value.CreateValueFromData(name, data, pointer)
        return self._value.CreateValueFromAddress(name, address, of_type.lldb)

    def get_child_index(self, name):
        return next((index for index, each in enumerate(self._found) if each[0] == name), -1)

    def _read(self, count):
        try:
            while len(self._found) < count:
                self._found.append(next(self._rest))
        except (StopIteration, memory.Unreadable, memory.NoSuchMember):
            pass


def __lldb_init_module(debugger, _):
    category = "-w handlepool"
    debugger.HandleCommand(f"type summary add {category} -x '^handlepool::handle<.*>$' "
                           f"-F {__name__}.handle_summary")
    for name in views.VIEWS:
        pattern = f"^handlepool::{name}(<.*>)?$"
        debugger.HandleCommand(f"type summary add {category} -e -x '{pattern}' -F {__name__}.summary")
        debugger.HandleCommand(f"type synthetic add {category} -x '{pattern}' -l {__name__}.Children")
    debugger.HandleCommand("type category enable handlepool")
