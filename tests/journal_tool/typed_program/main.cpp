// SPDX-License-Identifier: MIT

// A program that has types, and debug information that says so.

#include "ship.hpp"

namespace {

game::ship ships[1];
game::hidden caves[1];
const game::only_declared* nothing = nullptr;

} // namespace

int main() {
    return nothing == nullptr && ships[0].number == 0 && caves[0].depth == 0 ? 0 : 1;
}
