// SPDX-License-Identifier: MIT

// A module with a function that has a name, if its debug information is found.

extern "C" [[gnu::visibility("default")]] int launch_rocket(int count) {
    return count + 1;
}
