// SPDX-License-Identifier: MIT

// Random operations of every kind on pools of each placement: the record of each frame is what comparing the
// whole pool with a copy of the frame before shows.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct followed_object {
    std::uint64_t id = 0;
    std::uint64_t value = 0;
    void clear() noexcept { *this = {}; } // as recycling pools want it
};

struct tiny_blocks : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t removal_chunk = 4;
    static constexpr std::size_t compaction_grain = 8; // so that threads reap, too
};

/// Whether values are kept, for which hooks are called: then one thread reaps.
enum class followed_values { kept, dropped };

template <class Placement, class Policy, bool KeepOrder, std::size_t ReuseDelay, std::size_t Logs,
          followed_values Values = followed_values::kept>
struct followed_case {
    using traits = with_placement<Placement, with_policy<Policy>>;
    static pool_options options() {
        return {.name = "followed",
                .capacity = 600,
                .reuse_delay = ReuseDelay,
                .slot_limit = 3'000'000,
                .keep_order = KeepOrder};
    }
    static constexpr std::size_t logs = Logs;
    static constexpr bool keeps_values = Values == followed_values::kept;
};

template <class Case>
class change_log_oracle : public testing::Test {
protected:
    using pool_type = pool<followed_object, typename Case::traits>;
    using handle_type = typename pool_type::handle_type;
    using log_type = change_log<pool_type>;
    using record_type = typename log_type::record_type;
    static constexpr bool dense = std::is_same_v<typename Case::traits::placement, dense_placement>;

    /// What the records have told of an object so far, or what a look at the pool tells.
    struct known {
        handle_type handle;
        std::size_t position;
        bool alive;
    };
    using known_objects = std::map<std::uint64_t, known>; // by id

    /// The store, by the slow way.
    known_objects store() {
        known_objects found;
        std::size_t position = 0;
        for (const auto& [handle, object] : std::as_const(pool_).entries()) {
            const std::size_t at = dense ? position++ : static_cast<std::size_t>(&object - first_place());
            found[object.id] = {handle, at, pool_.contains(handle)};
        }
        return found;
    }
    /// In a stable pool, where the place with number 0 is.
    const followed_object* first_place() {
        if (first_place_ == nullptr) {
            for (const auto& [handle, object] : std::as_const(pool_).entries()) {
                if (const auto position = log_.position_of(handle)) {
                    first_place_ = &object - static_cast<std::ptrdiff_t>(*position);
                    break;
                }
            }
        }
        return first_place_;
    }

    /// A frame has ended: compares its record with what has changed in the store.
    void check() {
        ++frames_;
        ASSERT_EQ(log_.frame(), frames_);
        const auto records = log_.changes_since(frames_ - 1);
        ASSERT_TRUE(records);
        const record_type& record = *records->begin();
        record_type expected;
        expected.frame = frames_;
        const known_objects now = store();
        known_objects next;
        written_.assign(1, {});
        for (const auto& [id, before] : known_) {
            const auto found = now.find(id);
            if (found == now.end()) {
                expected.destroyed.push_back({before.handle, static_cast<std::uint32_t>(before.position)});
                continue;
            }
            const known& after = found->second;
            next[id] = after;
            if (after.handle != before.handle) {
                expected.renamed.push_back(
                    {before.handle, after.handle, static_cast<std::uint32_t>(after.position)});
            }
            if (after.position != before.position) {
                expected.moved.push_back({after.handle, static_cast<std::uint32_t>(before.position),
                                          static_cast<std::uint32_t>(after.position)});
                written_.back().insert(after.position);
            }
            if (edited_.contains(id)) {
                expected.edited.push_back({after.handle, static_cast<std::uint32_t>(after.position)});
                written_.back().insert(after.position);
            }
        }
        std::set<std::size_t> unseen; // where objects came that had ended already
        for (const auto& [id, after] : now) {
            if (!known_.contains(id)) {
                if (after.alive) {
                    expected.born.push_back({after.handle, static_cast<std::uint32_t>(after.position)});
                    next[id] = after;
                    written_.back().insert(after.position);
                } else {
                    unseen.insert(after.position);
                }
            }
        }
        expected.size = next.size();
        expected.cleared = !known_.empty() && expected.destroyed.size() == known_.size();
        expected.reset = reset_;
        const auto by_position = [](auto& list, auto position) { std::ranges::sort(list, {}, position); };
        by_position(expected.born, &record_type::placed::position);
        by_position(expected.destroyed, &record_type::placed::position);
        by_position(expected.moved, &record_type::moved_object::from);
        by_position(expected.edited, &record_type::placed::position);
        EXPECT_EQ(record.born, expected.born);
        EXPECT_EQ(record.destroyed, expected.destroyed);
        if constexpr (Case::keeps_values) {
            check_values(record);
        }
        EXPECT_EQ(record.moved, expected.moved);
        EXPECT_EQ(record.edited, expected.edited);
        EXPECT_EQ(record.size, expected.size);
        EXPECT_EQ(record.cleared, expected.cleared);
        EXPECT_EQ(record.reset, expected.reset);
        EXPECT_TRUE(std::ranges::is_permutation(record.renamed, expected.renamed));
        const std::uint64_t ended = pool_.stats().destroyed;
        EXPECT_EQ(record.never_seen, ended - std::exchange(ended_, ended) - expected.destroyed.size());
        EXPECT_EQ(record.reordered, std::exchange(sorted_, false));
        // Positions.
        std::set<std::size_t> uploaded;
        const auto ranges = log_.upload_ranges(frames_ - 1);
        ASSERT_TRUE(ranges);
        for (const auto& [first, last] : *ranges) {
            ASSERT_LT(first, last);
            for (std::size_t i = first; i != last; ++i) {
                uploaded.insert(i);
            }
        }
        EXPECT_TRUE(std::ranges::includes(uploaded, written_.back()));
        for (const std::size_t each : uploaded) {
            EXPECT_TRUE(written_.back().contains(each) || unseen.contains(each) || was_unseen_.contains(each))
                << each;
        }
        for (std::size_t i = 1; i < logs_.size() + 1; ++i) {
            const auto others = logs_[i - 1]->changes_since(logs_[i - 1]->frame() - 1);
            ASSERT_TRUE(others);
            record_type other = others->front();
            other.frame = record.frame;
            other.edited = record.edited; // marks are a log's own
            EXPECT_EQ(other, record);
        }
        known_ = std::move(next);
        was_unseen_ = std::move(unseen);
        edited_.clear();
        reset_ = false;
    }
    /// Those of destroyed objects are what an early hook has seen of them.
    void check_values(const record_type& record) {
        const auto entries = log_.destroyed_entries(frames_);
        ASSERT_TRUE(entries);
        ASSERT_EQ(entries->size(), record.destroyed.size());
        std::map<handle_type, std::uint64_t> ids; // by the handles that were told
        for (const auto& [id, before] : known_) {
            ids[before.handle] = id;
        }
        for (std::size_t i = 0; i != entries->size(); ++i) {
            const auto& [handle, object] = (*entries)[i];
            EXPECT_EQ(handle, record.destroyed[i].handle);
            EXPECT_EQ(object.id, ids.at(handle));
            EXPECT_EQ(object.value, last_values_.at(object.id));
        }
        last_values_.clear();
    }

    // ---- Operations, of the pool and of a view

    void create_one() { remember(pool_.emplace(followed_object{next_id_++, 0})); }
    template <class Pool>
    void create(Pool& pool) {
        switch (random_.below(5)) {
        case 0:
        case 1:
            remember(pool.try_emplace(followed_object{next_id_++, 0}));
            break;
        case 2:
            remember(pool.try_emplace_with(
                [&](auto handle) { return followed_object{next_id_++, handle.index()}; }));
            break;
        case 3: {
            std::vector<handle_type> made;
            pool.try_emplace_n(1 + random_.below(40), std::back_inserter(made),
                               [&](std::size_t) { return followed_object{next_id_++, 0}; });
            for (const handle_type each : made) {
                remember(each);
            }
            break;
        }
        default:
            if (const handle_type reserved = pool.try_reserve_handle()) {
                if (random_.one_in(3)) {
                    pool.cancel(reserved);
                } else if (pool.try_fulfill(reserved, followed_object{next_id_++, 0})) {
                    remember(reserved);
                }
            }
        }
    }
    void remember(handle_type handle) {
        if (handle) {
            living_.push_back(handle);
        }
    }

    template <class Pool>
    void end_one(Pool& pool) {
        if (living_.empty()) {
            return;
        }
        const handle_type handle = take_any();
        switch (random_.below(6)) {
        case 0:
            pool.extract(handle, [](followed_object&&) {});
            break;
        case 1: {
            const std::uint64_t modulus = 2 + random_.below(40);
            const std::uint64_t id = pool.contains(handle) ? pool[handle].id : 0;
            erase_if(pool, [&](const followed_object& each) { return each.id % modulus == id % modulus; });
            break;
        }
        default:
            pool.erase(handle);
        }
    }
    handle_type take_any() {
        const std::size_t which = random_.below(living_.size());
        std::swap(living_[which], living_.back());
        const handle_type handle = living_.back();
        living_.pop_back();
        return handle;
    }
    template <class Pool>
    void revoke_one(Pool& pool) {
        if (!living_.empty()) {
            handle_type& which = living_[random_.below(living_.size())];
            if (const handle_type given = pool.revoke(which)) {
                which = given;
            }
        }
    }
    void edit_one() {
        if (living_.empty()) {
            return;
        }
        const handle_type handle = living_[random_.below(living_.size())];
        if (!pool_.contains(handle)) {
            EXPECT_EQ(log_.edit(handle), nullptr);
            EXPECT_FALSE(log_.mark(handle));
            return;
        }
        if constexpr (dense) {
            if (random_.one_in(3) && !pool_.items().empty()) {
                const std::size_t position = random_.below(pool_.items().size());
                log_.mark_at(position);
                edited_.insert(pool_.items()[position].id);
                return;
            }
        }
        if (random_.one_in(2)) {
            EXPECT_TRUE(log_.mark(handle));
        } else {
            ++log_.edit(handle)->value;
        }
        edited_.insert(pool_[handle].id);
    }
    template <class Pool>
    void sort_it(Pool& pool) {
        if constexpr (dense) {
            const auto key = [salt = random_.bits()](const followed_object& each) {
                return (each.id ^ salt) * 0x9e3779b97f4a7c15U >> 40;
            };
            const sort_stats done =
                random_.one_in(2) ? sort_by(pool, key) : sort_some_by(pool, key, random_.below(100));
            sorted_ |= done.moved != 0;
        }
    }

    void step() {
        switch (random_.below(16)) {
        case 0:
        case 1:
        case 2:
        case 3:
            create(pool_);
            break;
        case 4:
        case 5:
        case 6:
            end_one(pool_);
            break;
        case 7:
            revoke_one(pool_);
            break;
        case 8:
        case 9:
        case 10:
            edit_one();
            break;
        case 11:
            if (random_.one_in(8)) {
                sort_it(pool_);
            }
            break;
        case 12:
            if (random_.one_in(20)) {
                pool_.clear();
                living_.clear();
            }
            break;
        case 13:
            if (random_.one_in(6)) {
                use_view();
            }
            break;
        case 14:
            if (random_.one_in(20)) {
                pool_.drain([](handle_type, followed_object&&) {});
                living_.clear();
                check();
            } else if (random_.one_in(40)) {
                pool_.reset();
                reset_ = true;
                living_.clear();
                check();
            } else if (random_.one_in(10)) {
                pool_.shrink_to_fit();
            }
            break;
        default:
            end_the_frame();
        }
    }
    void use_view() {
        {
            auto alone = pool_.exclusive_access();
            for (std::size_t i = 0, steps = random_.below(60); i != steps; ++i) {
                switch (random_.below(12)) {
                case 0:
                case 1:
                case 2:
                case 3:
                    create(alone);
                    break;
                case 4:
                case 5:
                case 6:
                case 7:
                    end_one(alone);
                    break;
                case 8:
                    revoke_one(alone);
                    break;
                case 9:
                    edit_one();
                    break;
                case 10:
                    if (random_.one_in(10)) {
                        sort_it(alone);
                    }
                    break;
                default:
                    if (random_.one_in(20)) {
                        alone.clear();
                        living_.clear();
                    } else if (random_.one_in(20)) {
                        alone.reset();
                        reset_ = true;
                        living_.clear();
                    }
                }
            }
        }
        check();
    }
    void end_the_frame() {
        switch (random_.below(4)) {
        case 0:
            pool_.compact_some(random_.below(30));
            break;
        case 1:
            pool_.compact(threads_);
            break;
        default:
            pool_.compact();
        }
        check();
    }

    random_source random_;
    pool_type pool_{Case::options()};
    std::uint64_t ended_ = 0;                            // when the last frame ended
    std::map<std::uint64_t, std::uint64_t> last_values_; // of what has ended in the frame, by id
    scoped_hook deaths_ = Case::keeps_values ? pool_.on_destroy([this](handle_type, followed_object& object) {
        last_values_[object.id] = object.value;
    })
                                             : scoped_hook();
    log_type log_ =
        Case::keeps_values ? log_type(pool_, keep_destroyed, {.frames = 3}) : log_type(pool_, {.frames = 3});
    std::vector<std::unique_ptr<log_type>> logs_;
    thread_executor threads_{2};
    std::vector<handle_type> living_;
    known_objects known_;
    std::set<std::uint64_t> edited_;
    std::set<std::size_t> was_unseen_;
    std::vector<std::set<std::size_t>> written_;
    const followed_object* first_place_ = nullptr;
    std::uint64_t frames_ = 0;
    std::uint64_t next_id_ = 1;
    bool reset_ = false;
    bool sorted_ = false;
};

using followed_cases =
    testing::Types<followed_case<dense_placement, default_policy, false, 0, 0>,
                   followed_case<dense_placement, tiny_blocks, false, 0, 1>,
                   followed_case<dense_placement, tiny_blocks, true, 3, 0>,
                   followed_case<stable_placement, tiny_blocks, false, 0, 0>,
                   followed_case<stable_placement, default_policy, false, 5, 0>,
                   followed_case<recycling_placement, tiny_blocks, false, 0, 1>,
                   followed_case<dense_placement, tiny_blocks, false, 0, 1, followed_values::dropped>,
                   followed_case<dense_placement, tiny_blocks, true, 3, 0, followed_values::dropped>,
                   followed_case<stable_placement, tiny_blocks, false, 0, 1, followed_values::dropped>>;
TYPED_TEST_SUITE(change_log_oracle, followed_cases);

TYPED_TEST(change_log_oracle, each_record_is_what_the_frame_did) {
    // So that the place of an object is known from here on.
    this->create_one();
    this->end_the_frame();
    this->first_place();
    for (int i = 0; i != 300 && !this->HasFailure(); ++i) {
        this->step();
    }
    this->pool_.compact(); // no dead object is left, of which the log knows and others would not
    this->check();
    // Those that come late find what there is.
    for (std::size_t i = 0; i != TypeParam::logs; ++i) {
        this->logs_.push_back(std::make_unique<typename TestFixture::log_type>(
            this->pool_, change_log_options{.check_marks = false})); // the marks are those of another log
    }
    for (int i = 0; i != 30000 && !this->HasFailure(); ++i) {
        this->step();
    }
}

} // namespace
} // namespace handlepool::test
