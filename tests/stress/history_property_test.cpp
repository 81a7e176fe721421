// SPDX-License-Identifier: MIT

// The condition that histories are checked by is exact: it holds just if there is an order of the operations
// that a single thread could have seen, as a search through all orders finds it.

#include "oracle/history.hpp"
#include "oracle/recorder.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

namespace handlepool::stress {
namespace {

// The creation takes this time, and nobody has the handle before its end.
constexpr time_stamp creation_begin = 1;
constexpr time_stamp creation_end = 2;

struct step {
    operation what{};
    time_stamp begin{};
    time_stamp duration{};
    bool accepted{};

    time_stamp end() const { return begin + duration; }
};

std::ostream& operator<<(std::ostream& out, const step& one) {
    return out << name_of(one.what) << (one.accepted ? " accepted" : " refused") << " from " << one.begin
               << " to " << one.end();
}

rc::Gen<std::vector<step>> histories() {
    const auto steps = rc::gen::map(
        rc::gen::build<step>(rc::gen::set(&step::what, rc::gen::element(operation::erase, operation::find,
                                                                        operation::contains)),
                             rc::gen::set(&step::begin, rc::gen::inRange<time_stamp>(creation_begin, 14)),
                             rc::gen::set(&step::duration, rc::gen::inRange<time_stamp>(0, 6)),
                             rc::gen::set(&step::accepted)),
        [](step one) {
            // Only a guessed handle is tried before, and it is refused.
            one.begin = one.accepted ? std::max(one.begin, creation_end) : one.begin;
            return one;
        });
    // Short, so that all orders can be tried; the times of the whole range.
    return rc::gen::resize(10,
                           rc::gen::container<std::vector<step>>(rc::gen::resize(rc::kNominalSize, steps)));
}

// Is there an order, each operation at some moment of its time, that a single thread could have seen?
class order_search {
public:
    explicit order_search(const std::vector<step>& history) : steps_(history) {}

    bool finds_one() { return goes_on(0, false, false); }

private:
    // `done` are those that come before the moment: a bit each, and the creation's.
    bool goes_on(std::uint64_t done, bool created, bool alive) const {
        time_stamp latest = created ? never : creation_end; // what ended before another began precedes it
        bool all = created;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if ((done >> i & 1U) == 0) {
                latest = std::min(latest, steps_[i].end());
                all = false;
            }
        }
        if (all) {
            return true;
        }
        if (!created && creation_begin <= latest && goes_on(done, true, true)) {
            return true;
        }
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const step& next = steps_[i];
            if ((done >> i & 1U) == 0 && next.begin <= latest && next.accepted == alive &&
                goes_on(done | std::uint64_t{1} << i, created, alive && next.what != operation::erase)) {
                return true;
            }
        }
        return false;
    }

    static constexpr time_stamp never = std::numeric_limits<time_stamp>::max();

    const std::vector<step>& steps_;
};

bool passes_the_check(const std::vector<step>& steps) {
    constexpr handle_parts parts{.index_bits = 32, .generation_bits = 22};
    constexpr std::uint64_t handle = std::uint64_t{1} << 32;
    constexpr std::uint64_t content = 7;
    recorder log(1, 1);
    const auto add = [&log](operation what, time_stamp begin, time_stamp end, bool accepted) {
        log.add(0, {.handle = handle,
                    .begin = begin,
                    .end = end,
                    .content = content,
                    .what = static_cast<std::uint64_t>(what) & 0xff,
                    .accepted = accepted,
                    .wrong = false});
    };
    add(operation::emplace, creation_begin, creation_end, true);
    for (const step& each : steps) {
        add(each.what, each.begin, each.end(), each.accepted);
    }
    history checked(parts, 1, 0);
    checked.check(0, {&log});
    return checked.result().passed();
}

TEST(order_search_test, knows_what_can_be) {
    const auto possible = [](const std::vector<step>& history) { return order_search(history).finds_one(); };
    EXPECT_TRUE(possible({}));
    EXPECT_TRUE(possible({{operation::contains, 1, 0, false}, {operation::find, 2, 1, true}}));
    EXPECT_TRUE(possible({{operation::erase, 3, 4, true}, {operation::find, 5, 4, true}}));
    EXPECT_FALSE(possible({{operation::erase, 3, 1, true}, {operation::find, 5, 4, true}}));
    EXPECT_FALSE(possible({{operation::contains, 3, 1, false}}));
    EXPECT_FALSE(possible({{operation::erase, 3, 4, true}, {operation::erase, 3, 4, true}}));
}

RC_GTEST_PROP(history_property, accepts_just_what_a_single_thread_could_have_seen, ()) {
    const std::vector<step> steps = *histories();
    const bool possible = order_search(steps).finds_one();
    RC_CLASSIFY(possible, "possible");
    RC_ASSERT(passes_the_check(steps) == possible);
}

} // namespace
} // namespace handlepool::stress
