# SPDX-License-Identifier: MIT
"""What debuggers show of handlepool's types, whichever debugger it is.

`views.view_of` is the way in. Everything here reads the program's memory through `memory.Target` and
`memory.Type`, which tools/gdb/ and tools/lldb/ implement: what is known of the layout of the data structures
stands here once.
"""
