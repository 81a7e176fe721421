// SPDX-License-Identifier: MIT

// Bytes that claim to be what a frame changed in a pool, in a delta whose hashes are right; the first byte
// says in which placement. They are refused, and the snapshot is as it was; or there is a later one, which is
// verified again.

#include "require.hpp"

#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/change_log.hpp>

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

struct told_words {
    std::string text;
};
struct told_words_archive {
    void save(std::ostream& out, const told_words& saved) const { out << saved.text; }
    told_words load(std::istream& in) const {
        return {std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>())};
    }
};

std::vector<std::byte> delta_with(std::span<const std::byte> payload) {
    std::vector<std::byte> bytes;
    detail::snapshot_writer to(bytes);
    to.begin_block(detail::block_kind::frames, 1, "frames", 16);
    to.number(std::uint64_t{0});
    to.number(std::uint64_t{1});
    to.end_block();
    to.begin_block(detail::block_kind::pool_delta, 1, "pool", payload.size());
    to.bytes(payload.data(), payload.size());
    to.end_block();
    to.finish();
    return bytes;
}

/// The snapshot of a pool in which something has happened.
template <class Pool, class Object, class... Archive>
std::vector<std::byte> snapshot_of(unsigned id, const Object& object, const Archive&... archive) {
    Pool pool({.name = "pool", .capacity = 100, .slot_limit = 200, .pool_id = id});
    for (int i = 0; i != 10; ++i) {
        pool.erase(pool.emplace(object));
        pool.emplace(object);
    }
    static_cast<void>(pool.try_reserve_handle());
    pool.cancel(pool.try_reserve_handle());
    pool.compact();
    snapshot all;
    all.add("pool", pool, archive...);
    std::vector<std::byte> bytes;
    all.save(bytes);
    return bytes;
}

void apply(std::span<const std::byte> begin, std::span<const std::byte> payload) {
    replay past(begin, 0);
    try {
        past.apply(delta_with(payload), "fuzzed");
    } catch (const invalid_snapshot& error) {
        require(std::string_view(error.what()).starts_with("delta 'fuzzed', byte "), "a reason is given");
        std::vector<std::byte> same;
        past.save(same);
        require(std::vector<std::byte>(begin.begin(), begin.end()) == same, "nothing has changed");
        return;
    }
    std::vector<std::byte> later;
    past.save(later);
    std::vector<std::byte> again;
    replay(later, 1).save(again);
    require(again == later, "what has come of it is a pool");
}

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    static const auto numbers = fuzz::snapshot_of<pool<std::uint64_t>>(3, std::uint64_t{1});
    static const auto texts = fuzz::snapshot_of<stable_pool<fuzz::told_words>>(4, fuzz::told_words{"a word"},
                                                                               fuzz::told_words_archive());
    if (size != 0) {
        const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
        fuzz::apply(data[0] % 2 == 0 ? numbers : texts, bytes.subspan(1));
    }
    return 0;
}
