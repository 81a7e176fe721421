// SPDX-License-Identifier: MIT

// Readers and the processes that they read, when one of them ends.

#include "remade_pools.hpp"

#include <handlepool/pool.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <src/core/process/process_description.hpp>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tests/support/deadline.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>
#include <tools/inspect/report.hpp>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::detail {

extern process_description described_process;

} // namespace handlepool::detail

namespace handlepool::inspect_tool {
namespace {

struct ship {
    std::uint64_t number = 0;
};

/// A child of fork, which runs a function and then waits to be killed, as it is with this object.
class child {
public:
    explicit child(const std::function<void()>& run) {
        int ready[2];
        EXPECT_EQ(pipe(ready), 0);
        process_ = fork();
        if (process_ == 0) {
#ifdef PR_SET_PTRACER
            prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
#endif
            run();
            const char byte = 0;
            static_cast<void>(!write(ready[1], &byte, 1));
            while (true) {
                pause();
            }
        }
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
    }
    ~child() { end(); }

    child(const child&) = delete;
    child& operator=(const child&) = delete;

    int process() const noexcept { return process_; }
    void end() {
        if (process_ != 0) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }

private:
    pid_t process_ = 0;
};

pool_counts counts_of(int process) {
    const auto program = inspected_program::in_process(process).at(0);
    return inspected_pool(program, program.pools().at(0)).counts();
}

TEST(inspected_process, is_a_child_of_fork_with_pools_of_its_own) {
    pool<ship> ships({.name = "ships", .capacity = 100});
    ships.emplace();
    const child other([&] {
        ships.emplace();
        ships.emplace();
        ships.compact();
    });
    ships.emplace();
    EXPECT_EQ(counts_of(other.process()).alive, 3U);
    EXPECT_EQ(counts_of(other.process()).frames, 1U);
    EXPECT_EQ(counts_of(getpid()).alive, 2U);
    EXPECT_EQ(counts_of(getpid()).frames, 0U);
}

TEST(inspected_process, may_be_stopped) {
    const child other([] { (new pool<ship>({.name = "ships", .capacity = 100}))->emplace(); });
    kill(other.process(), SIGSTOP);
    EXPECT_EQ(counts_of(other.process()).alive, 1U);
}

TEST(inspected_process, of_another_version_is_refused) {
    const child other([] { detail::described_process.version = 77; });
    EXPECT_EQ(
        test::message_of<process_unreadable>([&] { inspected_program::in_process(other.process()); }),
        "process " + std::to_string(other.process()) +
            " has pools of another version of the library: its description has version 77 and addresses of 8 "
            "bytes, and this program reads version 3 with addresses of 8");
}

// What only looks like a description, because it is a copy of one, is none.
alignas(64) detail::process_description copy_of_description = detail::described_process;

TEST(inspected_process, has_one_description_whatever_looks_like_it) {
    copy_of_description = detail::described_process;
    copy_of_description.version = 99;
    EXPECT_EQ(inspected_program::in_process(getpid()).size(), 1U);
}

TEST(inspected_process, that_has_ended_is_reported) {
    std::optional<child> other(std::in_place, [] { new pool<ship>({.name = "ships", .capacity = 100}); });
    const int process = other->process();
    const auto program = inspected_program::in_process(process).at(0);
    const inspected_pool ships(program, program.pools().at(0));
    const std::string gone = "there is no process " + std::to_string(process) + " any more";
    kill(process, SIGKILL);
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT); // and it waits for its parent
    EXPECT_EQ(test::message_of<process_unreadable>([&] { inspected_program::in_process(process); }), gone);
    other.reset();
    EXPECT_EQ(test::message_of<process_unreadable>([&] { inspected_program::in_process(process); }), gone);
    EXPECT_EQ(test::message_of<process_unreadable>([&] { program.pools(); }), gone);
    EXPECT_EQ(test::message_of<process_unreadable>([&] { ships.counts(); }), gone);
    EXPECT_EQ(test::message_of<process_unreadable>([&] { ships.gate(); }), gone);
    EXPECT_EQ(test::message_of<process_unreadable>([&] { look(program, wishes()); }), gone);
}

TEST(inspected_process, whose_list_is_stopped_amid_a_change_is_reported) {
    const child other([] {
        const_cast<std::atomic<std::uint64_t>*>(detail::described_process.list_changes)->fetch_add(1);
    });
    const auto program = inspected_program::in_process(other.process()).at(0);
    EXPECT_EQ(test::message_of<process_unreadable>([&] { program.pools(); }),
              "the pools of process " + std::to_string(other.process()) +
                  " can't be listed: it makes and ends pools all the time, or was stopped while it did");
}

TEST(inspected_process, is_looked_at_for_one_of_its_pools) {
    const pool<ship> ships({.name = "ships", .capacity = 100});
    const pool<ship> boats({.name = "boats", .capacity = 100});
    const auto program = inspected_program::in_process(getpid()).at(0);
    wishes asked;
    asked.seconds = 0;
    asked.pool = "boats";
    ASSERT_EQ(look(program, asked).pools.size(), 1U);
    EXPECT_EQ(look(program, asked).pools[0].name, "boats");
    asked.pool = "cars";
    EXPECT_TRUE(look(program, asked).pools.empty());
}

// A pool that is made where one has been is not taken for it.
TEST(inspected_process, whose_pools_are_made_anew_has_no_rates_of_others) {
    const remade_pools remaking;
    const auto program = inspected_program::in_process(getpid()).at(0);
    wishes asked;
    asked.seconds = 0.005;
    for (int i = 0; i != 100; ++i) {
        for (const pool_report& each : look(program, asked).pools) {
            EXPECT_LE(each.created_rate.value_or(0), 1e7);
            EXPECT_LE(each.counts.alive, 500U);
        }
    }
}

// What a description says is believed as far as it can be: a reader neither ends nor goes on for ever.
TEST(inspected_process, that_describes_what_can_not_be_is_refused) {
    using change = void (*)(detail::living_pool&);
    const change changes[] = {
        [](detail::living_pool& pool) { pool.description.column_count = 0; },
        [](detail::living_pool& pool) { pool.description.lives_bits = 62; },
        [](detail::living_pool& pool) { pool.description.slot_table.stride = -1; },
        [](detail::living_pool& pool) { pool.description.created.count = std::uint64_t{1} << 62; },
        [](detail::living_pool& pool) { pool.description.memory_size = std::uint64_t{1} << 60; },
        [](detail::living_pool& pool) { pool.description.erased.count = std::uint64_t{1} << 40; },
        [](detail::living_pool& pool) { pool.description.reserved.count = std::uint64_t{1} << 40; },
        [](detail::living_pool& pool) { pool.description.closed.count = std::uint64_t{1} << 40; },
        [](detail::living_pool& pool) { pool.index_bits = 64; },
        [](detail::living_pool& pool) { pool.generation_bits = 0xffff'fff0U; },
        [](detail::living_pool& pool) { pool.pool_id_bits = 0xffff'fff0U; },
    };
    for (const change each : changes) {
        const child other([each] {
            new pool<ship>({.name = "ships", .capacity = 100, .record_lives = 1});
            each(*detail::living_pools);
        });
        const auto program = inspected_program::in_process(other.process()).at(0);
        EXPECT_EQ(test::message_of<process_unreadable>([&] { look(program, wishes()); }),
                  "process " + std::to_string(other.process()) + " describes a pool 'ships' that can't be");
    }
    const child endless([] {
        new pool<ship>({.name = "ships", .capacity = 100});
        detail::living_pools->next = detail::living_pools;
    });
    const auto program = inspected_program::in_process(endless.process()).at(0);
    EXPECT_THROW(program.pools(), process_unreadable);
}

TEST(inspected_process, may_have_pools_of_as_many_threads_and_spawners_as_there_can_be) {
    const child other([] {
        new pool<ship>(
            {.name = "ships", .capacity = 100, .max_threads = detail::thread_index_limit, .spawners = 8});
    });
    const auto program = inspected_program::in_process(other.process()).at(0);
    wishes asked;
    asked.seconds = 0;
    ASSERT_EQ(look(program, asked).pools.size(), 1U);
    EXPECT_EQ(look(program, asked).pools[0].capacity, 100U);
}

TEST(inspected_process, that_has_run_for_weeks_has_old_objects) {
    constexpr std::uint32_t frames = (1U << 26) + 10; // almost two weeks of 60 a second
    const child other([] {
        auto* const ships = new pool<ship>({.name = "ships", .capacity = 100, .record_lives = 1});
        ships->emplace();
        *const_cast<std::uint32_t*>(
            static_cast<const std::uint32_t*>(detail::living_pools->description.lives_frame)) += frames;
    });
    const auto program = inspected_program::in_process(other.process()).at(0);
    wishes asked;
    asked.seconds = 0;
    asked.pool = "ships";
    const program_report found = look(program, asked);
    ASSERT_EQ(found.pools.size(), 1U);
    ASSERT_EQ(found.pools[0].oldest.size(), 1U);
    EXPECT_EQ(found.pools[0].oldest[0].age, frames);
}

TEST(inspected_process, says_of_a_handle_whose_pool_ends_nothing_or_what_is_so) {
    const remade_pools remaking;
    const auto program = inspected_program::in_process(getpid()).at(0);
    int told = 0;
    // For longer where the machine is so busy that none was made meanwhile.
    const test::deadline late;
    for (int i = 0; i < 500 || (told == 0 && !late.has_passed()); ++i) {
        for (const detail::living_pool& each : program.pools()) {
            const std::uint64_t handle = std::uint64_t{each.id} << (each.index_bits + each.generation_bits) |
                                         std::uint64_t{1} << each.index_bits;
            const auto one = told_of_handle(program, each, "one", handle, true);
            told += one ? 1 : 0;
            EXPECT_FALSE(told_of_handle(program, each, "another", handle, true));
        }
    }
    EXPECT_GT(told, 0);
}

// What is read in the place of a pool that has ended is another one's.
TEST(inspected_process, says_nothing_of_a_handle_whose_pool_was_made_anew) {
    const pool_options options{.name = "one", .capacity = 1000};
    std::optional<pool<int>> one(options);
    const std::uint64_t handle = one->emplace(1).value();
    const auto program = inspected_program::in_process(getpid()).at(0);
    const detail::living_pool listed = program.pools().at(0);
    EXPECT_TRUE(told_of_handle(program, listed, "one", handle, true));
    one.emplace(options).emplace(2);
    EXPECT_FALSE(told_of_handle(program, listed, "one", handle, true));
}

// An object that is erased while it is looked at is not said to be younger than its handle.
TEST(inspected_process, says_what_a_handle_is_at_one_moment) {
    pool<ship> ships({.name = "ships", .capacity = 100, .reuse_delay = 0});
    std::atomic<std::uint64_t> latest{0};
    const std::jthread working([&](const std::stop_token& stop) {
        std::mt19937 random(1);
        while (!stop.stop_requested()) {
            const handle<ship> made = ships.emplace();
            latest.store(made.value(), std::memory_order::relaxed);
            const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 64);
            while (std::chrono::steady_clock::now() < until) { // about as long as it takes to look
            }
            ships.erase(made);
            ships.compact();
        }
    });
    const auto program = inspected_program::in_process(getpid()).at(0);
    const std::vector<detail::living_pool> listed = program.pools();
    ASSERT_EQ(listed.size(), 1U);
    while (latest.load(std::memory_order::relaxed) == 0) {
        std::this_thread::yield();
    }
    const inspected_pool inspected(program, listed[0]);
    std::uint64_t last = 0;
    for (int different = 0; different != 5000;) {
        const auto asked = handle<ship>::from_value(latest.load(std::memory_order::relaxed));
        different += asked.value() != std::exchange(last, asked.value()) ? 1 : 0;
        const std::string text = inspected.describe(asked.value());
        EXPECT_FALSE(text.ends_with("the slot is at generation " + std::to_string(asked.generation())))
            << text;
    }
}

// Only data of modules is read, where the process has touched it: that and other files might get memory by
// it.
TEST(inspected_process, gets_no_memory_by_being_read) {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    const support::scratch_directory folder;
    const std::string module = folder.path() / "big_module";
    std::ofstream(module) << "\177ELF";
    std::filesystem::resize_file(module, bytes);
    const child other([&module] {
        for (const char* const file : {"/dev/zero", module.c_str()}) {
            const int opened = open(file, O_RDWR);
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, opened, 0);
        }
        auto* const ships = new pool<ship>({.name = "ships", .capacity = 100'000'000, .record_lives = 4});
        ships->emplace();
    });
    const auto told = [&](const std::string& what) {
        std::ifstream in("/proc/" + std::to_string(other.process()) + "/status");
        std::string word;
        std::uint64_t kibibytes = 0;
        while (in >> word && word != what) {
        }
        in >> kibibytes;
        return kibibytes * 1024;
    };
    const auto resident = [&] { return told("RssAnon:") + told("RssFile:"); };
    const auto page_tables = [&] { return told("VmPTE:"); }; // which grow for pages of zeros, too
    const std::uint64_t before = resident();
    const std::uint64_t tables_before = page_tables();
    for (int i = 0; i != 3; ++i) {
        wishes asked;
        asked.seconds = 0;
        asked.pool = "ships";
        ASSERT_EQ(look(inspected_program::in_process(other.process()).at(0), asked).pools.size(), 1U);
    }
    EXPECT_GT(before, 0U);
    // The kernel counts in its own time, and a sanitizer takes some megabytes of its own.
    EXPECT_LE(resident(), before + bytes / 2);
    EXPECT_GT(tables_before, 0U);
    EXPECT_LE(page_tables(), tables_before + (std::uint64_t{1} << 16));
}

// Readers are killed at any moment, a thousand of them, while this process works: it notices nothing.
TEST(inspected_process, does_not_notice_readers_that_are_killed) {
    pool<ship> ships({.name = "ships", .capacity = 2000, .record_lives = 2});
    std::uint64_t frames = 0;
    std::uint64_t wrong = 0;
    std::jthread working([&](const std::stop_token& stop) {
        std::vector<handle<ship>> mine;
        for (; !stop.stop_requested(); ++frames) {
            for (std::uint64_t i = 0; i != 50; ++i) {
                mine.push_back(ships.emplace(ship{frames + i}));
            }
            ships.compact();
            for (std::uint64_t i = 0; i != mine.size(); ++i) {
                const ship* const found = ships.find(mine[i]);
                wrong += found == nullptr || found->number != frames + i ? 1U : 0U;
            }
            wrong += ships.erase(mine) == mine.size() ? 0U : 1U;
            mine.clear();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    });
    const int parent = getpid();
    std::mt19937 random(3);
    for (int i = 0; i != 1000; ++i) {
        const pid_t reader = fork();
        if (reader == 0) {
            // No more of the parent's memory than this: another thread may have been anywhere in it.
            while (true) {
                const auto program = inspected_program::in_process(parent).at(0);
                wishes asked;
                asked.seconds = 0;
                asked.pool = "ships";
                static_cast<void>(look(program, asked));
            }
        }
        ASSERT_GT(reader, 0);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        kill(reader, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(reader, &status, 0), reader);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    working.request_stop();
    working.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_GT(frames, 1000U);
}

} // namespace
} // namespace handlepool::inspect_tool
