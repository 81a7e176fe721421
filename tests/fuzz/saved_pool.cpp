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

/// A pool, which is as new for each payload: no process has ids for as many pools as there are payloads.
template <class Pool, class... Archive>
class fuzzed_pool {
public:
    fuzzed_pool(unsigned id, const Archive&... archive)
        : pool_({.name = "pool", .capacity = 100, .slot_limit = 200, .pool_id = id}) {
        all_.add("pool", pool_, archive...);
        all_.save(as_new_);
    }

    /// Loads the payload, and uses what the pool has become.
    template <class Object>
    void load(const Object& object, std::span<const std::byte> payload) {
        all_.load(as_new_);
        const auto before = pool_.emplace(object);
        pool_.compact();
        try {
            all_.load(snapshot_with(payload), "fuzzed");
        } catch (const invalid_snapshot& error) {
            require(std::string_view(error.what()).starts_with("snapshot 'fuzzed', byte "),
                    "a reason is given");
            require(pool_.contains(before) && pool_.size() == 1, "nothing has changed");
            return;
        }
        std::size_t living = 0;
        for (const auto& each : pool_.entries()) {
            require(pool_.contains(each.handle), "what is there lives");
            ++living;
        }
        require(living == pool_.size(), "what lives is there");
        std::vector<std::byte> bytes;
        all_.save(bytes);
        std::size_t made = 0;
        while (pool_.try_emplace(object)) {
            ++made;
        }
        require(made + living <= pool_.capacity(), "there is no more than the capacity");
        pool_.clear();
        pool_.compact();
        all_.load(bytes);
        require(pool_.size() == living, "it can be loaded again");
    }

private:
    Pool pool_;
    snapshot all_;
    std::vector<std::byte> as_new_;
};

} // namespace
} // namespace handlepool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    static fuzz::fuzzed_pool<pool<std::uint64_t>> numbers(3);
    static fuzz::fuzzed_pool<stable_pool<fuzz::words>, fuzz::words_archive> texts(4, fuzz::words_archive());
    if (size != 0) {
        const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
        if (data[0] % 2 == 0) {
            numbers.load(std::uint64_t{1}, bytes.subspan(1));
        } else {
            texts.load(fuzz::words{"a word"}, bytes.subspan(1));
        }
    }
    return 0;
}
