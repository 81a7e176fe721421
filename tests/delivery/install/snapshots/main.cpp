// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/time/world.hpp>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

int main() {
    handlepool::pool<int> numbers({.name = "numbers", .capacity = 10});
    handlepool::world game({.frames = 2});
    int score = numbers.at(numbers.emplace(1));
    game.add(score);
    game.capture(1);

    const std::filesystem::path file = std::filesystem::temp_directory_path() / "handlepool_installed.save";
    const std::vector<std::byte> bytes(1000, std::byte{7});
    handlepool::write_snapshot_file(file, bytes);
    const bool same = handlepool::read_snapshot_file(file) == bytes;
    std::filesystem::remove(file);
    try {
        handlepool::read_snapshot_file(file);
        return 1;
    } catch (const std::system_error& error) {
        std::printf("%s\n", error.what());
    }
    try {
        throw handlepool::invalid_snapshot("thrown here");
    } catch (const std::runtime_error&) { // is known to the library and to the program
        return same ? 0 : 1;
    }
}
