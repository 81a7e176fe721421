// SPDX-License-Identifier: MIT

// Bytes that claim to be a pool, in a snapshot whose hashes are right; the first byte says of which kind.
// They are refused, and the pool is as it was; or it is a pool that can be used, and saved again.

#include "compare.hpp"
#include "require.hpp"

#include <handlepool/columns.hpp>
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
#include <stdexcept>
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

/// Some older objects can't become newer ones.
template <class Number>
auto upgrade_of_number() {
    return upgrade<Number, std::uint64_t>([](Number old) -> std::uint64_t {
        if (old == 7) {
            throw std::runtime_error("nobody wants a 7");
        }
        return old;
    });
}
auto words_of_number() {
    return upgrade<std::uint16_t, words>([](std::uint16_t old) { return words{std::to_string(old)}; });
}

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
template <class Pool>
class fuzzed_pool {
public:
    /// `schema` is what a snapshot needs to know of the objects.
    template <class... Schema>
    explicit fuzzed_pool(unsigned id, const Schema&... schema)
        : pool_({.name = "pool", .capacity = 100, .slot_limit = 200, .pool_id = id}) {
        all_.add("pool", pool_, schema...);
        all_.save(as_new_);
    }

    /// Loads the payload, and uses what the pool has become.
    template <class... Object>
    void load(std::span<const std::byte> payload, const Object&... object) {
        all_.load(as_new_);
        const auto before = pool_.emplace(object...);
        pool_.compact();
        std::vector<std::byte> one;
        all_.save(one);
        compare(one, snapshot_with(payload));
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
        while (pool_.try_emplace(object...)) {
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
    static fuzz::fuzzed_pool<pool<std::uint64_t>> numbers(3, fuzz::upgrade_of_number<std::uint32_t>());
    static fuzz::fuzzed_pool<stable_pool<fuzz::words>> texts(4, fuzz::words_archive());
    static fuzz::fuzzed_pool<pool<columns<float, fuzz::words, std::uint64_t>>> rows(
        5, named_column("x"), named_column("title", fuzz::words_archive(), fuzz::words_of_number()),
        named_column("money", fuzz::upgrade_of_number<std::uint8_t>()));
    if (size != 0) {
        const std::span<const std::byte> payload =
            std::span(reinterpret_cast<const std::byte*>(data), size).subspan(1);
        switch (data[0] % 3) {
        case 0:
            numbers.load(payload, std::uint64_t{1});
            break;
        case 1:
            texts.load(payload, fuzz::words{"a word"});
            break;
        default:
            rows.load(payload, 1.5F, fuzz::words{"a word"}, std::uint64_t{1});
            break;
        }
    }
    return 0;
}
