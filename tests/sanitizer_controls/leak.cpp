// SPDX-License-Identifier: MIT

// Planted: objects of a pool don't free what they own. Correct: they do.
#include "fault.hpp"

#include <handlepool/pool.hpp>

#include <cstdio>
#include <utility>

namespace {

class ship {
public:
    explicit ship(bool frees) : frees_(frees), cargo_(new int(7)) {}
    ~ship() {
        if (frees_) {
            delete cargo_;
        }
    }
    ship(ship&& other) noexcept : frees_(other.frees_), cargo_(std::exchange(other.cargo_, nullptr)) {}
    ship& operator=(ship&&) = delete;

    int cargo() const { return *cargo_; }

private:
    bool frees_;
    int* cargo_;
};

} // namespace

int main(int argc, char** argv) {
    const bool planted = handlepool::control::is_planted(argc, argv);
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100});
    int cargo = 0;
    for (int i = 0; i < 100; ++i) { // more than registers and stack could still point to
        cargo += ships.at(ships.emplace(!planted)).cargo();
    }
    ships.compact();
    std::printf("cargo %d\n", cargo);
}
