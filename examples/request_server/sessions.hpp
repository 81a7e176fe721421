// SPDX-License-Identifier: MIT
#pragma once

#include "housekeeper.hpp"

#include <handlepool/pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace request_server {

/// What takes its time to end, such as a connection that says goodbye.
struct backend {
    static inline std::atomic<std::uint64_t> ended = 0;

    explicit backend(std::chrono::nanoseconds takes = {}) : farewell(takes) {}
    ~backend() {
        const auto until = std::chrono::steady_clock::now() + farewell;
        while (std::chrono::steady_clock::now() < until) {
        }
        ++ended;
    }
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;

    std::chrono::nanoseconds farewell;
    std::unique_ptr<backend> next; // of those that are to end
};

/// Backends that are to end, later and elsewhere. Adding one can't fail.
class farewells {
public:
    farewells() = default;
    farewells(const farewells&) = delete;
    farewells& operator=(const farewells&) = delete;
    ~farewells() { end_all(); }

    void add(std::unique_ptr<backend> one) noexcept {
        one->next = std::move(first_);
        first_ = std::move(one);
    }
    void end_all() noexcept {
        while (first_ != nullptr) { // one by one: a list that ends as a whole would end recursively
            first_ = std::move(first_->next);
        }
    }

private:
    std::unique_ptr<backend> first_;
};

struct session {
    std::unique_ptr<backend> connection;
    std::array<char, 200> state{};
    std::uint64_t requests = 0; // of several threads at once: see sessions::serve
};
using session_handle = handlepool::handle<session>;

/// The sessions of a server. All functions may be called by any threads at any time.
class sessions {
public:
    sessions(std::size_t capacity, housekeeping plan)
        : table_({.name = "sessions", .capacity = capacity}),
          keeper_(table_, plan, [this] { ending_.end_all(); }) {}

    /// Null when the table is full. Then the client is to try again later, or never: whether there is room
    /// after the next compaction, which comes at once, shows has_room_soon().
    session_handle open() {
        const session_handle made = table_.try_emplace_with(
            [](session_handle) { return session{.connection = std::make_unique<backend>()}; });
        if (!made) {
            keeper_.wake();
        }
        return made;
    }
    bool has_room_soon() const { return table_.size() < table_.capacity(); }

    /// False when the session is over. Short: what waits for something must not hold the session meanwhile,
    /// but look it up again.
    bool serve(session_handle of) {
        const auto found = table_.pin(of);
        if (!found) {
            return false;
        }
        std::atomic_ref(found->requests).fetch_add(1); // pinning excludes nobody else
        return true;
    }

    /// True for one of all calls. The connection ends soon afterwards, in the housekeeper's thread.
    bool close(session_handle of) { return table_.erase(of); }

    handlepool::pool_stats stats() const { return table_.stats(); }
    const housekeeper<handlepool::pool<session>>& keeper() const { return keeper_; }

    /// Requests that were served by sessions that are over.
    std::uint64_t served() const { return served_; }

private:
    std::atomic<std::uint64_t> served_ = 0;
    farewells ending_; // used by the housekeeper's thread
    handlepool::pool<session> table_;
    // Behind the table: it sees nothing of the table's end, with which the connections that are left end too.
    handlepool::scoped_hook ends_ = table_.on_destroy([this](session_handle, session& over) {
        served_ += over.requests;
        ending_.add(std::move(over.connection)); // a compaction must not wait for it
    });
    housekeeper<handlepool::pool<session>> keeper_;
};

} // namespace request_server
