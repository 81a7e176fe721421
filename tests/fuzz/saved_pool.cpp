// SPDX-License-Identifier: MIT

// Bytes that claim to be a pool, in a snapshot whose hashes are right; the first byte says in which
// placement. They are refused, and the pool is as it was; or it is a pool that can be used, and saved again.

#include "require.hpp"

#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::fuzz {
namespace {

struct words {
    std::string text;
};
struct words_archive {
    void save(std::ostream& out, const words& saved) const { out << saved.text; }
    words load(std::istream& in) const {
        return {std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>())};
    }
};

std::vector<std::byte> snapshot_with(std::span<const std::byte> payload) {
    std::vector<std::byte> bytes;
    detail::snapshot_writer to(bytes);
    to.begin_block(detail::block_kind::pool, 1, "pool", payload.size());
    to.bytes(payload.data(), payload.size());
    to.end_block();
    to.finish();
    return bytes;
}

/// Loads the payload, and uses what it has become.
template <class Pool, class Object>
void load(snapshot& all, Pool& loaded, const Object& object, std::span<const std::byte> payload) {
    const auto before = loaded.emplace(object);
    loaded.compact();
    try {
        all.load(snapshot_with(payload), "fuzzed");
    } catch (const invalid_snapshot& error) {
        require(std::string_view(error.what()).starts_with("snapshot 'fuzzed', byte "), "a reason is given");
        require(loaded.contains(before) && loaded.size() == 1, "nothing has changed");
        return;
    }
    std::size_t living = 0;
    for (const auto& each : loaded.entries()) {
        require(loaded.contains(each.handle), "what is there lives");
        ++living;
    }
    require(living == loaded.size(), "what lives is there");
    std::vector<std::byte> bytes;
    all.save(bytes);
    std::size_t made = 0;
    while (loaded.try_emplace(object)) {
        ++made;
    }
    require(made + living <= loaded.capacity(), "there is no more than the capacity");
    loaded.clear();
    loaded.compact();
    all.load(bytes);
    require(loaded.size() == living, "it can be loaded again");
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    if (size == 0) {
        return 0;
    }
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    const pool_options options{.name = "pool", .capacity = 100, .slot_limit = 200};
    snapshot all;
    if (data[0] % 2 == 0) {
        pool_options of_numbers = options;
        of_numbers.pool_id = 3;
        pool<std::uint64_t> numbers(of_numbers);
        all.add("pool", numbers);
        fuzz::load(all, numbers, std::uint64_t{1}, bytes.subspan(1));
    } else {
        pool_options of_texts = options;
        of_texts.pool_id = 4;
        stable_pool<fuzz::words> texts(of_texts);
        all.add("pool", texts, fuzz::words_archive());
        fuzz::load(all, texts, fuzz::words{"a word"}, bytes.subspan(1));
    }
    return 0;
}
