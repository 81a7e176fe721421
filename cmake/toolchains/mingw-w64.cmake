# SPDX-License-Identifier: MIT

# Windows on x86-64, by Debian's g++-mingw-w64-x86-64-posix; programs run under wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)

# What Windows 10 has. A program has the compiler's libraries in it; a DLL shares them with its users, so that exceptions pass.
set(CMAKE_CXX_FLAGS_INIT "-D_WIN32_WINNT=0x0A00")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")

set(handlepool_root /usr/x86_64-w64-mingw32)
include(${CMAKE_CURRENT_LIST_DIR}/packages_of_target.cmake)
