// SPDX-License-Identifier: MIT

// Random operations on a pool of each kind, a snapshot of it, and the same calls on the pool that goes on and
// on one that is made anew from the snapshot: both give the same handles, and each handle that was ever made
// is in the same state.

#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct saved_number {
    std::uint64_t id = 0;
    void clear() noexcept { id = 0; } // as recycling pools want it
};
struct saved_text {
    saved_text() = default;
    explicit saved_text(std::uint64_t number) : id(number), text(std::to_string(number)) {}
    saved_text& operator=(std::uint64_t number) { return *this = saved_text(number); }
    void clear() noexcept { text.clear(); }
    std::uint64_t id = 0;
    std::string text;
};
struct text_archive {
    void save(std::ostream& out, const saved_text& saved) const { out << saved.id << ' ' << saved.text; }
    saved_text load(std::istream& in) const {
        saved_text read;
        in >> read.id >> read.text;
        return read;
    }
};

struct saved_blocks : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t removal_chunk = 4;
    static constexpr std::size_t freelist_block = 8;
};
using few_generations = handle_layout<20, 4, 8>;

template <class Object, class Traits, bool KeepOrder, std::size_t ReuseDelay>
struct saved_case {
    using pool_type = pool<Object, Traits>;
    // Of few generations, none are left for another pool of that id.
    static constexpr bool starts_again = Traits::layout::generation_bits > 8;
    static pool_options options() {
        return {.name = "saved",
                .capacity = 300,
                .reuse_delay = ReuseDelay,
                .slot_limit = 30'000,
                .keep_order = KeepOrder,
                .pool_id = std::is_same_v<typename Traits::placement, dense_placement> ? 77 : 78};
    }
    static void add_to(snapshot& all, pool_type& saved) {
        if constexpr (std::is_trivially_copyable_v<Object>) {
            all.add("the pool", saved);
        } else {
            all.add("the pool", saved, text_archive());
        }
    }
};

/// A pool and whoever uses it: the same seed makes the same calls, if the pool is the same.
template <class Case>
class pool_user {
public:
    using pool_type = typename Case::pool_type;
    using handle_type = typename pool_type::handle_type;

    pool_user() : pool_(std::make_unique<pool_type>(Case::options())) {}

    pool_type& pool() { return *pool_; }
    /// Everybody has gone who knew the pool, and it is made anew.
    void start_again(std::span<const std::byte> bytes) {
        pool_.reset();
        pool_ = std::make_unique<pool_type>(Case::options());
        snapshot all;
        Case::add_to(all, *pool_);
        EXPECT_EQ(all.load(bytes), std::vector<std::string>());
    }

    void play(std::uint64_t seed, int calls) {
        std::mt19937_64 engine(seed);
        const auto below = [&engine](std::uint64_t end) { return engine() % end; };
        for (int i = 0; i != calls; ++i) {
            const std::uint64_t kind = below(40);
            if (kind < 14) {
                note(pool_->try_emplace(next_id_++));
            } else if (kind < 24 && !ever_.empty()) {
                pool_->erase(any(below));
            } else if (kind < 26) {
                std::vector<handle_type> made;
                const std::size_t count = below(12);
                pool_->try_emplace_n(count, std::back_inserter(made),
                                     [this](std::size_t) { return object(next_id_++); });
                for (const handle_type each : made) {
                    note(each);
                }
            } else if (kind < 28) {
                note(pool_->try_reserve_handle());
            } else if (kind < 30 && !ever_.empty()) {
                pool_->try_fulfill(any(below), next_id_++);
            } else if (kind < 31 && !ever_.empty()) {
                pool_->cancel(any(below));
            } else if (kind < 33 && !ever_.empty()) {
                note(pool_->revoke(any(below)));
            } else if (kind < 34 && below(8) == 0) {
                pool_->clear();
            } else if (kind < 34 && below(16) == 0) {
                pool_->reset();
            } else if (kind < 36) {
                pool_->compact_some(below(6));
            } else {
                pool_->compact();
            }
        }
    }

    /// The state of each handle that was ever made, and what its object is.
    std::vector<std::pair<handle_state, std::uint64_t>> states() const {
        std::vector<std::pair<handle_state, std::uint64_t>> all;
        for (const handle_type each : ever_) {
            const auto* const found = pool_->find(each);
            all.emplace_back(pool_->state(each), found == nullptr ? 0 : found->id);
        }
        return all;
    }
    std::vector<std::uint64_t> order() const {
        std::vector<std::uint64_t> ids;
        pool_->for_each([&ids](const object& each) { ids.push_back(each.id); });
        return ids;
    }
    const std::vector<handle_type>& ever() const { return ever_; }
    /// Forgets what was noted since there were so many handles.
    void forget(std::size_t handles, std::uint64_t id) {
        ever_.resize(handles);
        next_id_ = id;
    }
    std::uint64_t next_id() const { return next_id_; }

private:
    using object = std::remove_pointer_t<typename pool_type::pointer>;

    void note(handle_type handle) {
        if (handle) {
            ever_.push_back(handle);
        }
    }
    template <class Below>
    handle_type any(Below& below) {
        // Mostly one of the last, so that many live.
        const std::uint64_t back = below(4) == 0 ? ever_.size() : (std::min<std::uint64_t>)(ever_.size(), 60);
        return ever_[ever_.size() - 1 - below(back)];
    }

    std::unique_ptr<pool_type> pool_;
    std::vector<handle_type> ever_;
    std::uint64_t next_id_ = 1;
};

template <class Case>
class snapshot_oracle : public testing::Test {};

using saved_cases = testing::Types<
    saved_case<saved_number, default_traits, false, 0>,
    saved_case<saved_number, with_policy<saved_blocks, with_layout<few_generations>>, false, 0>,
    saved_case<saved_number, with_policy<saved_blocks>, true, 5>,
    saved_case<saved_text, with_policy<saved_blocks>, false, 0>,
    saved_case<saved_number, with_placement<stable_placement>, false, 0>,
    saved_case<saved_text, with_placement<stable_placement, with_policy<saved_blocks>>, false, 3>,
    saved_case<saved_number,
               with_placement<stable_placement, with_policy<saved_blocks, with_layout<few_generations>>>,
               false, 0>,
    saved_case<saved_text, with_placement<recycling_placement, with_policy<saved_blocks>>, false, 0>>;
TYPED_TEST_SUITE(snapshot_oracle, saved_cases);

TYPED_TEST(snapshot_oracle, a_pool_goes_on_from_its_snapshot_as_it_would_have) {
    random_source random;
    pool_user<TypeParam> user;
    for (int round = 0; round != 40; ++round) {
        user.play(random.bits(), 300);
        snapshot all;
        TypeParam::add_to(all, user.pool());
        std::vector<std::byte> bytes;
        if (round % 2 == 0) {
            all.save(bytes);
        } else {
            bytes = all.capture().bytes();
        }
        const std::size_t ever = user.ever().size();
        const std::uint64_t next_id = user.next_id();
        const auto states = user.states();
        const auto order = user.order();

        const std::uint64_t future = random.bits();
        user.play(future, 200);
        const auto handles_then = user.ever();
        const auto states_then = user.states();

        user.forget(ever, next_id);
        if (TypeParam::starts_again && random.one_in(2)) {
            user.start_again(bytes);
        } else { // in the pool as it is, which takes all back
            all.load(bytes);
        }
        ASSERT_EQ(user.states(), states);
        ASSERT_EQ(user.order(), order);
        user.play(future, 200);
        ASSERT_EQ(user.ever(), handles_then);
        ASSERT_EQ(user.states(), states_then);
    }
}

} // namespace
} // namespace handlepool::test
