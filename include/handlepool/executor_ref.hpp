// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/executor.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

namespace handlepool {

/// A reference to any executor, for code that is compiled once. The executor must outlive it. Threads,
/// progress and errors are the executor's; each call costs an indirect call more.
class executor_ref {
public:
    /// Refers to this executor.
    template <executor Executor>
        requires(!std::same_as<std::remove_cvref_t<Executor>, executor_ref>)
    executor_ref(Executor& executor) noexcept
        : executor_(const_cast<void*>(static_cast<const void*>(std::addressof(executor)))),
          for_ranges_([](void* run, std::size_t count, std::size_t grain, body_ref body) {
              static_cast<Executor*>(run)->for_ranges(count, grain, body);
          }) {
        if constexpr (phase_listener<Executor>) {
            begin_compaction_ = [](void* run, std::string_view pool) {
                static_cast<Executor*>(run)->begin_compaction(pool);
            };
            begin_phase_ = [](void* run, compaction_phase phase) {
                static_cast<Executor*>(run)->begin_phase(phase);
            };
            end_compaction_ = [](void* run, const compaction_stats& stats) {
                static_cast<Executor*>(run)->end_compaction(stats);
            };
        }
    }

    /// Has the executor run the loop.
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) const {
        for_ranges_(executor_, count, grain, body_ref(body));
    }

    /// Notify the executor, if it is a phase_listener.
    void begin_compaction(std::string_view pool) const {
        if (begin_compaction_ != nullptr) {
            begin_compaction_(executor_, pool);
        }
    }
    void begin_phase(compaction_phase phase) const {
        if (begin_phase_ != nullptr) {
            begin_phase_(executor_, phase);
        }
    }
    void end_compaction(const compaction_stats& stats) const {
        if (end_compaction_ != nullptr) {
            end_compaction_(executor_, stats);
        }
    }

private:
    class body_ref {
    public:
        template <class Body>
            requires(!std::same_as<Body, body_ref>)
        explicit body_ref(Body& body) noexcept
            : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
              call_([](void* called, std::size_t first, std::size_t last) noexcept {
                  (*static_cast<Body*>(called))(first, last);
              }) {}

        void operator()(std::size_t first, std::size_t last) const noexcept { call_(body_, first, last); }

    private:
        void* body_;
        void (*call_)(void*, std::size_t, std::size_t) noexcept;
    };

    void* executor_;
    void (*for_ranges_)(void*, std::size_t, std::size_t, body_ref);
    void (*begin_compaction_)(void*, std::string_view) = nullptr;
    void (*begin_phase_)(void*, compaction_phase) = nullptr;
    void (*end_compaction_)(void*, const compaction_stats&) = nullptr;
};

static_assert(phase_listener<executor_ref>);

} // namespace handlepool
