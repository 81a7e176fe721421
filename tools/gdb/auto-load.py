# SPDX-License-Identifier: MIT
"""gdb loads this with an installed library, and with programs that have the library's code. See docs/debuggers.md."""

import os
import sys

import gdb

# Of prefix/share/gdb/auto-load/, in which gdb looks for the full path of the library.
folder = os.path.abspath(sys._getframe().f_code.co_filename)
while os.path.basename(folder) != "auto-load":
    folder = os.path.dirname(folder)
share = os.path.dirname(os.path.dirname(folder))
gdb.execute(f"source {os.path.join(share, 'handlepool', 'gdb', 'handlepool_gdb.py')}")
