#pragma once

#include <handlepool/executor_ref.hpp>
#include <handlepool/timeline.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace handlepool::stress {

// What runs the loops of compactions.
enum class executor_kind : std::uint8_t { in_line, threads, tbb };

inline constexpr std::array<std::string_view, 3> executor_names{"inline", "threads", "tbb"};

constexpr std::string_view name_of(executor_kind kind) noexcept {
    return executor_names[static_cast<std::size_t>(kind)];
}

// The service in which a run's pool stands.
struct service_setting {
    executor_kind executor = executor_kind::tbb;
    std::size_t pools = 3;                   // the watched one, and its neighbours
    handlepool::timeline* records = nullptr; // what happens goes there too
};

// The executor of a run, for one compaction at a time, by any thread.
class frame_executor {
public:
    // With up to this number of threads, where it has threads: a few a processor at most.
    frame_executor(const service_setting& setting, std::size_t threads) : held_(make(setting, threads)) {}

    executor_ref get() const noexcept { return held_.executor; }

private:
    struct owned_executor {
        std::shared_ptr<void> owner;
        executor_ref executor;
    };

    static owned_executor make(const service_setting& setting, std::size_t threads);
    template <class Executor, class... Args>
    static owned_executor make_one(handlepool::timeline* records, Args&&... args);

    owned_executor held_;
};

} // namespace handlepool::stress
