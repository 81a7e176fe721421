// SPDX-License-Identifier: MIT
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <thread>
#include <vector>

// Threads that use pools while they end: from destructors of thread_local objects and of thread-specific
// keys, before and after the thread has given its number up, or without ever having had one.
namespace handlepool::test {
namespace {

class thread_end_test : public testing::Test {
protected:
    /// All that a thread may do with handles and frames.
    void use_everything() {
        const auto handle = ints.emplace(7);
        const auto other = ints.emplace(8);
        bool right = ints.contains(handle) && *ints.find(handle) == 7 && ints.erase(other);
        {
            const auto guard = ints.access();
            right = right && ints[handle] == 7 && !ints.try_compact().has_value();
        }
        ints.compact();
        right = right && ints.items().size() == ints.size() && !ints.contains(other);
        kept.push_back(handle);
        wrong += right ? 0 : 1;
        ++uses;
    }

    void expect_uses(int expected) {
        EXPECT_EQ(uses, expected);
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(kept.size(), static_cast<std::size_t>(expected));
        ints.compact();
        for (const auto handle : kept) {
            EXPECT_TRUE(ints.contains(handle));
            EXPECT_EQ(ints[handle], 7);
        }
        EXPECT_EQ(ints.size(), kept.size());
        EXPECT_LE(ints.stats().shards, 4U) << "threads that came one after the other share a shard";
    }

    pool<int> ints{{.name = "ints", .capacity = 10'000}};
    std::vector<handle<int>> kept; // of one thread at a time
    int uses = 0;
    int wrong = 0;
};

/// A thread-specific key, whose destructor calls back. It runs after the library's own, which gives the
/// thread's number up, and again and again while it sets the key.
class key_with_callback {
public:
    key_with_callback() { EXPECT_EQ(pthread_key_create(&key_, call), 0); }
    ~key_with_callback() { pthread_key_delete(key_); }

    key_with_callback(const key_with_callback&) = delete;
    key_with_callback& operator=(const key_with_callback&) = delete;

    void at_thread_end(std::function<void()>& callback) const { pthread_setspecific(key_, &callback); }

private:
    static void call(void* callback) { (*static_cast<std::function<void()>*>(callback))(); }

    pthread_key_t key_{};
};

TEST_F(thread_end_test, a_thread_specific_key_uses_a_pool_after_the_thread_has_given_its_number_up) {
    const key_with_callback key;
    std::function<void()> use = [&] { use_everything(); };
    for (int i = 0; i != 20; ++i) {
        std::thread([&] {
            use_everything();
            key.at_thread_end(use);
        }).join();
    }
    expect_uses(40);
}

TEST_F(thread_end_test, a_thread_specific_key_uses_a_pool_that_its_thread_never_used_before) {
    const key_with_callback key;
    std::function<void()> use = [&] { use_everything(); };
    for (int i = 0; i != 20; ++i) {
        std::thread([&] { key.at_thread_end(use); }).join();
    }
    expect_uses(20);
}

TEST_F(thread_end_test, a_thread_specific_key_that_is_set_again_uses_a_pool_again) {
    const key_with_callback key;
    for (int i = 0; i != 20; ++i) {
        int left = 2; // the system ends a thread after four rounds, and the library needs the last one
        std::function<void()> use = [&] {
            use_everything();
            if (--left != 0) {
                key.at_thread_end(use);
            }
        };
        std::thread([&] {
            use_everything();
            key.at_thread_end(use);
        }).join();
    }
    expect_uses(60);
}

#if !defined(__MINGW32__) // whose threads free thread_local objects before they destroy them
/// Calls back when its thread ends. The thread's first use of it makes it.
struct at_thread_end {
    std::function<void()> call;
    ~at_thread_end() {
        if (call) {
            call();
        }
    }
};
thread_local at_thread_end first_made;
thread_local at_thread_end last_made;

TEST_F(thread_end_test, a_thread_local_object_made_before_the_first_use_of_a_pool_uses_it_at_its_end) {
    for (int i = 0; i != 20; ++i) {
        std::thread([&] {
            first_made.call = [&] { use_everything(); };
            use_everything();
        }).join();
    }
    expect_uses(40);
}

TEST_F(thread_end_test, a_thread_local_object_made_after_the_first_use_of_a_pool_uses_it_at_its_end) {
    for (int i = 0; i != 20; ++i) {
        std::thread([&] {
            use_everything();
            last_made.call = [&] { use_everything(); };
        }).join();
    }
    expect_uses(40);
}

TEST_F(thread_end_test, a_thread_local_object_uses_a_pool_that_its_thread_never_used_before) {
    for (int i = 0; i != 20; ++i) {
        std::thread([&] {
            first_made.call = [&] { use_everything(); };
            last_made.call = [&] { use_everything(); };
        }).join();
    }
    expect_uses(40);
}

TEST_F(thread_end_test, a_thread_that_ends_by_pthread_exit_uses_a_pool_at_its_end) {
    pthread_t thread{};
    std::function<void()> body = [&] {
        use_everything();
        last_made.call = [&] { use_everything(); };
    };
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* called) -> void* {
                      (*static_cast<std::function<void()>*>(called))();
                      pthread_exit(nullptr);
                      return nullptr; // for systems that do not say that it never returns
                  },
                  &body),
              0);
    pthread_join(thread, nullptr);
    expect_uses(2);
}

TEST_F(thread_end_test, a_thread_local_object_uses_a_service_at_its_end) {
    service world;
    auto& numbers = world.add<pool<int>>("numbers", {.capacity = 1000});
    any_handle kept_by_thread;
    for (int i = 0; i != 20; ++i) {
        std::thread([&] {
            last_made.call = [&] {
                kept_by_thread = numbers.emplace(7);
                const auto guard = world.access();
                wrong += world.find<int>(kept_by_thread) != nullptr ? 0 : 1;
                wrong += i == 0 || world.erase(numbers.oldest(1).front()) ? 0 : 1;
            };
        }).join();
        world.compact();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(world.contains(kept_by_thread));
    EXPECT_EQ(numbers.size(), 1U);
}
#endif

} // namespace
} // namespace handlepool::test
