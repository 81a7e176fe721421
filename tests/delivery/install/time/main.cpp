// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>
#include <handlepool/time/record_encoding.hpp>
#include <handlepool/time/world.hpp>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <vector>

int main() {
    handlepool::pool<int> numbers({.name = "numbers", .capacity = 10});
    handlepool::change_log log(numbers);
    handlepool::capture_ring past(log, {.frames = 3});
    int score = 0;
    handlepool::world game({.frames = 2});
    game.add(past);
    game.add(score);

    const auto first = numbers.emplace(1);
    game.capture(1);
    *log.edit(first) = 2;
    score = 7;
    game.capture(2);

    std::vector<std::byte> bytes;
    handlepool::frame_record<handlepool::handle<int>> record;
    encode_record(log.changes_since(log.frame() - 1)->front(), bytes);
    handlepool::decode_record(bytes, record);
    const bool told = record.edited.size() == 1 && record.edited[0].handle == first;

    game.restore(1);
    const bool is_back = numbers.at(first) == 1 && score == 0;
    try {
        game.restore(2);
    } catch (const std::out_of_range& error) {
        std::printf("%s\n", error.what());
        return told && is_back ? 0 : 1;
    }
    return 1;
}
