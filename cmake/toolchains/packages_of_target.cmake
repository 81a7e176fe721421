# SPDX-License-Identifier: MIT

# For a toolchain file that has set handlepool_root, where the target's own libraries are: packages for the machine that builds are
# none for the target.
set(CMAKE_FIND_ROOT_PATH ${handlepool_root} ${CMAKE_PREFIX_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${handlepool_root}/lib/pkgconfig)
