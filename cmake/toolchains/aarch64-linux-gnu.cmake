# SPDX-License-Identifier: MIT

# Linux on ARM64, by Debian's g++-aarch64-linux-gnu; programs run under qemu-user-static.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;/usr/aarch64-linux-gnu")

set(handlepool_root /usr/aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/packages_of_target.cmake)
