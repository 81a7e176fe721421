// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/scoped_hook.hpp>

#include <examples/asteroids/world.hpp>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <system_error>
#include <vector>

/// What a process that will be killed says of its world, as bytes in a pipe: messages, each by one call of
/// the system. Of the last one a part may be missing.
namespace kills {

/// What a frame has come to, which is the same in each process.
struct outcome {
    std::uint64_t fingerprint = 0;
    std::uint64_t replaced = 0;
    std::uint64_t hits = 0;

    friend bool operator==(const outcome&, const outcome&) = default;
};

inline outcome outcome_of(const asteroids::world& space) {
    return {.fingerprint = space.fingerprint,
            .replaced = space.replaced,
            .hits = space.hits + space.hits_of_lost_ships};
}

/// A handle that was made, and the number of the object that it was made for.
struct birth {
    std::uint64_t handle = 0; // its bits
    std::uint64_t number = 0;
};

enum class subject : std::uint64_t {
    start,    // the process goes on after this frame
    frame,    // this frame has ended; said before the next process can know of it
    appended, // the next process will know of it
};

/// The handles that were made and that ended in the frame follow.
struct message {
    subject about{};
    std::uint64_t frame = 0;
    outcome found{};
    std::uint64_t born = 0;
    std::uint64_t ended = 0;

    std::size_t bytes() const {
        return sizeof(message) + static_cast<std::size_t>(born) * sizeof(birth) +
               static_cast<std::size_t>(ended) * sizeof(std::uint64_t);
    }
};

/// Says it through the standard output. Any thread.
inline void say(const message& said, const std::vector<birth>& born = {},
                const std::vector<std::uint64_t>& ended = {}) {
    std::vector<std::byte> bytes(said.bytes());
    std::byte* to = bytes.data();
    const auto add = [&to](const void* from, std::size_t size) {
        if (size != 0) {
            std::memcpy(to, from, size);
            to += size;
        }
    };
    add(&said, sizeof said);
    add(born.data(), born.size() * sizeof(birth));
    add(ended.data(), ended.size() * sizeof(std::uint64_t));
    static std::mutex turns; // long messages would mix
    const std::scoped_lock turn(turns);
    if (::write(STDOUT_FILENO, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        throw std::system_error(errno, std::generic_category(), "the pipe");
    }
}

/// Hears of each handle that is made and that ends, from the pools' hooks, and so from nobody who saves or
/// loads them.
class witness {
public:
    explicit witness(asteroids::world& space)
        : space_(space),
          hooks_{watch(space.rocks), watch(space.ships), watch(space.projectiles), watch(space.dust)},
          created_before_(created()) {}

    /// Says what has happened since the last call.
    void say_frame() {
        message said{.about = subject::frame, .frame = space_.frames, .found = outcome_of(space_)};
        std::vector<birth> born;
        std::vector<std::uint64_t> ended;
        for (heard& each : heard_) {
            born.insert(born.end(), each.born.begin(), each.born.end());
            ended.insert(ended.end(), each.ended.begin(), each.ended.end());
            each = {};
        }
        heard_of_ += born.size();
        examples::require(heard_of_ == created() - created_before_,
                          "frame {}: heard of {} objects, but {} were created", space_.frames, heard_of_,
                          created() - created_before_);
        said.born = born.size();
        said.ended = ended.size();
        say(said, born, ended);
    }

private:
    struct heard {
        std::vector<birth> born;
        std::vector<std::uint64_t> ended;
    };
    struct hooks {
        handlepool::scoped_hook births;
        handlepool::scoped_hook ends;
    };

    template <class T>
    hooks watch(handlepool::pool<T>& objects) {
        heard& of_pool = heard_[objects.stats().pool_id - 1]; // threads compact several pools at a time
        return {objects.on_birth([&of_pool](handlepool::handle<T> self, const T& one) {
                    of_pool.born.push_back({.handle = self.value(), .number = one.number});
                }),
                objects.on_destroy([&of_pool](handlepool::handle<T> self, const T&) {
                    of_pool.ended.push_back(self.value());
                })};
    }
    std::uint64_t created() const {
        std::uint64_t sum = 0;
        for (const auto& pool : space_.pools.stats().pools) {
            sum += pool.created;
        }
        return sum;
    }

    asteroids::world& space_;
    std::array<heard, 4> heard_; // by the pool's id
    std::array<hooks, 4> hooks_;
    std::uint64_t created_before_;
    std::uint64_t heard_of_ = 0;
};

} // namespace kills
