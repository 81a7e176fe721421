// SPDX-License-Identifier: MIT

// Frames that are played again: those that are the same, and those that something beside the world decides,
// each of which is named.

#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/rehearsal.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/thread_executor.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace handlepool::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct rehearsed_ship {
    static constexpr std::string_view snapshot_layout = "hull:i32 speed:f32";
    std::int32_t hull = 0;
    float speed = 0;
};

constexpr std::size_t tasks = 4;

/// A game of some ships, whose frames `mistake(game, frame)` may spoil.
class game {
public:
    explicit game(std::size_t frames_back = 3) : twice_(past_, present_, frames_back) {
        burning_.attach(ships_);
        past_.add(ring_);
        past_.add(burning_);
        past_.add(random_);
        past_.add(score_);
        present_.add("ships", ships_);
        present_.add("burning", burning_);
        present_.add("score", score_);
        auto spawners = ships_.spawners(tasks);
        for (auto& spawner : spawners) {
            for (int i = 0; i != 5; ++i) {
                spawner.emplace(rehearsed_ship{.hull = 10, .speed = 1});
            }
        }
        spawners.close();
        ships_.compact();
        twice_.begin(0);
    }

    using mistake_type = std::function<void(game&, std::uint64_t)>;

    /// What the first frame that differs has to tell, of some frames.
    std::string play(std::uint64_t last, const mistake_type& mistake, std::uint64_t first = 1) {
        for (std::uint64_t frame = first; frame <= last; ++frame) {
            const auto difference = twice_.play(frame, [&](std::uint64_t each) {
                ++plays_;
                simulate(each);
                mistake(*this, each);
                ships_.compact();
            });
            if (difference) {
                return to_string(*difference);
            }
        }
        return "";
    }

    /// An edit that no mark forgets.
    rehearsed_ship& edit(std::size_t position) { return *log_.edit(ships_.handle_at(position)); }

    pool<rehearsed_ship> ships_{{.name = "ships", .capacity = 1000, .spawners = tasks}};
    change_log<pool<rehearsed_ship>> log_{ships_};
    capture_ring<pool<rehearsed_ship>> ring_{log_, {.frames = 16}};
    handle_set<rehearsed_ship> burning_;
    std::minstd_rand random_{1};
    std::int64_t score_ = 0;
    world past_;
    snapshot present_;
    rehearsal twice_;
    std::size_t plays_ = 0; // no part of the world

private:
    void simulate(std::uint64_t frame) {
        const std::size_t chosen = random_() % ships_.items().size();
        edit(chosen).hull -= 1;
        score_ += static_cast<std::int64_t>(chosen);
        auto spawners = ships_.spawners(tasks);
        thread_executor threads(2);
        spawners.for_each(
            [&](auto& spawner) {
                if ((frame + spawner.number()) % 3 == 0) {
                    const auto made = spawner.emplace(rehearsed_ship{.hull = 10, .speed = 2});
                    spawner.defer([this, made] { burning_.insert(made); });
                }
                if (ships_.items().size() > 10) {
                    spawner.erase(ships_.handle_at((frame * 7 + spawner.number()) % ships_.items().size()));
                }
            },
            threads);
    }
};

TEST(rehearsal, finds_nothing_where_nothing_but_the_world_counts) {
    for (const std::size_t back : {1U, 3U, 7U}) {
        game playing(back);
        EXPECT_EQ(playing.play(40, [](game&, std::uint64_t) {}), "");
        EXPECT_GT(playing.plays_, 40 * back);
    }
}

/// A state that was not added to the world: it goes on when the world is taken back.
TEST(rehearsal, names_what_a_hidden_state_has_changed) {
    game playing(1);
    int hidden = 0;
    const std::string told = playing.play(9, [&](game& of, std::uint64_t frame) {
        ++hidden;
        if (frame == 4) {
            of.edit(0).hull = 100 + hidden;
        }
    });
    // Each frame has been played twice before.
    EXPECT_EQ(told, "frame 4 was not the same when it was played again from frame 3\n  ships #" +
                        std::to_string(playing.ships_.handle_at(0).index()) + " generation " +
                        std::to_string(playing.ships_.handle_at(0).generation()) + ", .hull: 107 / 108");
}

TEST(rehearsal, tells_of_the_first_frame_that_differs) {
    game all;
    EXPECT_EQ(all.play(5,
                       [](game& in, std::uint64_t) {
                           if (in.plays_ > 6) { // in the third rehearsal, from its first frame on
                               in.score_ += 1'000;
                           }
                       }),
              "frame 1 was not the same when it was played again from frame 0\n  score, value: 11 / 1011");
}

struct planted {
    std::string name;
    game::mistake_type mistake;
    std::string told; // a part of it
};

class planted_difference : public testing::TestWithParam<planted> {};

TEST_P(planted_difference, is_named) {
    game playing;
    const std::string told = playing.play(20, GetParam().mistake);
    EXPECT_THAT(told, StartsWith("frame 5 was not the same when it was played again from frame "));
    EXPECT_THAT(told, HasSubstr(GetParam().told));
}

/// In frame 5 alone, so that it is known where the worlds part.
game::mistake_type in_frame_5(game::mistake_type mistake) {
    return [mistake](game& of, std::uint64_t frame) {
        if (frame == 5) {
            mistake(of, frame);
        }
    };
}

/// Whether a task that is slow the first time is fast the second time.
bool is_fast(const game& of) {
    return of.plays_ % 2 == 0;
}

INSTANTIATE_TEST_SUITE_P(
    mistakes, planted_difference,
    testing::Values(planted{"hidden_counter", in_frame_5([](game& of, std::uint64_t) {
                                of.edit(1).hull = static_cast<std::int32_t>(of.plays_);
                            }),
                            ", .hull: "},
                    planted{"address_as_a_key", in_frame_5([](game& of, std::uint64_t) {
                                static std::vector<std::unique_ptr<int>> all; // none of which comes again
                                all.push_back(std::make_unique<int>());
                                of.edit(2).hull = static_cast<std::int32_t>(
                                    reinterpret_cast<std::uintptr_t>(all.back().get()) / 16);
                            }),
                            ", .hull: "},
                    planted{"iteration_in_no_order", in_frame_5([](game& of, std::uint64_t) {
                                std::unordered_map<std::size_t, std::size_t> by_hash(
                                    of.plays_ % 2 == 0 ? 3 : 997);
                                for (std::size_t i = 0; i != of.ships_.items().size(); ++i) {
                                    by_hash[i * 31] = i;
                                }
                                std::int32_t number = 0;
                                for (const auto& [hash, position] : by_hash) {
                                    of.edit(position).hull = 1000 + number++;
                                }
                            }),
                            ", .hull: "},
                    planted{"sum_in_another_order", in_frame_5([](game& of, std::uint64_t) {
                                std::vector<float> parts{1e8F, 1, -1e8F};
                                if (is_fast(of)) {
                                    std::swap(parts[1], parts[2]);
                                }
                                float sum = 0;
                                for (const float part : parts) {
                                    sum += part;
                                }
                                of.edit(3).speed = sum;
                            }),
                            ", .speed: "},
                    planted{"random_numbers_of_all_tasks", in_frame_5([](game& of, std::uint64_t) {
                                static std::minstd_rand shared(7); // no part of the world
                                of.edit(4).speed = static_cast<float>(shared() % 100'000);
                            }),
                            ", .speed: "},
                    planted{"whoever_comes_first_creates", in_frame_5([](game& of, std::uint64_t) {
                                auto spawners = of.ships_.spawners(tasks);
                                spawners[is_fast(of) ? 0 : 1].emplace(rehearsed_ship{.hull = 5});
                            }),
                            "ships "},
                    planted{"as_many_spawners_as_threads", in_frame_5([](game& of, std::uint64_t) {
                                auto spawners = of.ships_.spawners(is_fast(of) ? 4 : 2);
                                for (std::size_t i = 0; i != 4; ++i) {
                                    spawners[i % spawners.size()].emplace(
                                        rehearsed_ship{.hull = static_cast<std::int32_t>(i)});
                                }
                            }),
                            "ships "},
                    planted{"whoever_comes_first_erases", in_frame_5([](game& of, std::uint64_t) {
                                auto spawners = of.ships_.spawners(tasks);
                                spawners[0].erase(of.ships_.handle_at(is_fast(of) ? 0 : 1));
                            }),
                            "object: is there / is not there"},
                    planted{"value_that_was_not_added", in_frame_5([](game& of, std::uint64_t) {
                                static std::int64_t bonus = 0;
                                of.score_ += ++bonus;
                            }),
                            "score"},
                    planted{"member_of_whoever_came_first", in_frame_5([](game& of, std::uint64_t) {
                                const auto first = of.ships_.handle_at(6);
                                const auto second = of.ships_.handle_at(7);
                                of.burning_.erase(first);
                                of.burning_.erase(second);
                                of.burning_.insert(is_fast(of) ? first : second);
                            }),
                            "burning"},
                    planted{"member_that_nobody_has_initialized", in_frame_5([](game& of, std::uint64_t) {
                                // What a former object has left where this one is made.
                                unsigned char left[sizeof(rehearsed_ship)];
                                std::memset(left, is_fast(of) ? 0xcd : 0, sizeof(left));
                                rehearsed_ship made;
                                std::memcpy(&made, left, sizeof(made));
                                made.hull = 3;
                                auto spawners = of.ships_.spawners(1);
                                spawners[0].emplace(made);
                            }),
                            ", .speed: "}),
    [](const auto& tested) { return tested.param.name; });

TEST(rehearsal, goes_on_after_a_difference) {
    game playing(2);
    bool spoiled = false;
    const auto once = in_frame_5([&](game& of, std::uint64_t) {
        of.score_ += spoiled ? 0 : 1;
        spoiled = true;
    });
    EXPECT_NE(playing.play(6, once), "");
    EXPECT_EQ(playing.play(20, once, 6), "");
}

TEST(rehearsal, can_begin_again_when_a_frame_has_failed) {
    game playing(2);
    EXPECT_THROW(playing.twice_.play(1, [](std::uint64_t) { throw std::runtime_error("failed"); }),
                 std::runtime_error);
    EXPECT_EQ(message_of<std::logic_error>([&] { playing.twice_.play(1, [](std::uint64_t) {}); }),
              "a rehearsal plays a frame before begin()");
    playing.ships_.compact();
    playing.twice_.begin(1);
    EXPECT_EQ(playing.twice_.play(2, [&](std::uint64_t) { playing.ships_.compact(); }), std::nullopt);
}

TEST(rehearsal, refuses_frames_that_it_cannot_go_back) {
    world past({.frames = 4});
    snapshot present;
    const auto refusal = [&](std::size_t frames) {
        return message_of<std::invalid_argument>([&] { rehearsal(past, present, frames); });
    };
    EXPECT_EQ(refusal(0),
              "a rehearsal that goes 0 frames back is not allowed; allowed are 1 to 3, one fewer than the "
              "world keeps");
    EXPECT_EQ(refusal(4),
              "a rehearsal that goes 4 frames back is not allowed; allowed are 1 to 3, one fewer than the "
              "world keeps");
    EXPECT_EQ(refusal(3), "");
    game playing(1);
    EXPECT_EQ(playing.twice_.frames(), 1);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { playing.twice_.play(0, [](std::uint64_t) {}); }),
              "a rehearsal plays frame 0 after frame 0");
}

TEST(rehearsal_difference, is_told_in_lines) {
    rehearsal_difference told{.frame = 7, .taken_back_to = 4};
    told.differences.found = {{"ships", "#1 generation 3", ".hull", "1", "2"},
                              {"score", "", "bytes 0 to 1", "a", "b"}};
    EXPECT_EQ(to_string(told), "frame 7 was not the same when it was played again from frame 4\n"
                               "  ships #1 generation 3, .hull: 1 / 2\n"
                               "  score, bytes 0 to 1: a / b");
    told.differences.left_out = 3;
    EXPECT_THAT(to_string(told), HasSubstr("\n  and 3 more"));
}

} // namespace
} // namespace handlepool::test
