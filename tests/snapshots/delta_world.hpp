// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <optional>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Pools of each kind with a recorder of deltas, and random calls on them.
namespace handlepool::test {

struct told_number {
    std::uint64_t id = 0;
    std::uint64_t value = 0;
    void clear() noexcept { *this = {}; } // as recycling pools want it
};
/// Counts the objects that there are, whose member it is.
struct counted_object {
    counted_object() noexcept { ++living; }
    counted_object(const counted_object&) noexcept : counted_object() {}
    counted_object& operator=(const counted_object&) noexcept = default;
    ~counted_object() { --living; }

    static inline std::atomic<int> living{0};
};
struct told_text {
    told_text() = default;
    explicit told_text(std::uint64_t number) : id(number), text(std::to_string(number)) {}
    told_text& operator=(std::uint64_t number) { return *this = told_text(number); }
    void clear() noexcept { text.clear(); }
    std::uint64_t id = 0;
    std::uint64_t value = 0;
    std::string text;
    [[no_unique_address]] counted_object counted;
};
struct told_archive {
    void save(std::ostream& out, const told_text& saved) const {
        out << saved.id << ' ' << saved.value << ' ' << saved.text;
    }
    told_text load(std::istream& in) const {
        told_text read;
        in >> read.id >> read.value >> read.text;
        return read;
    }
};

struct told_blocks : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t removal_chunk = 4;
    static constexpr std::size_t freelist_block = 8;
};
using told_generations = handle_layout<20, 4, 8>;

template <class Object, class Traits, bool KeepOrder = false, std::size_t ReuseDelay = 0>
struct told_case {
    using object_type = Object;
    using pool_type = pool<Object, Traits>;
    using handle_type = typename pool_type::handle_type;
    static constexpr bool is_dense = std::is_same_v<typename Traits::placement, dense_placement>;
    static pool_options options() {
        return {.name = "told",
                .capacity = 300,
                .reuse_delay = ReuseDelay,
                .slot_limit = 30'000,
                .keep_order = KeepOrder};
    }
    static Object object(std::uint64_t id) {
        if constexpr (std::is_same_v<Object, told_text>) {
            return told_text(id);
        } else {
            return {id, 0};
        }
    }
    template <class To, class Added>
    static void add_to(To& to, Added& added) {
        if constexpr (std::is_trivially_copyable_v<Object>) {
            to.add("the pool", added);
        } else {
            to.add("the pool", added, told_archive());
        }
    }
};

/// A pool, a value, and a recorder of both.
template <class Case>
class told_world {
public:
    using pool_type = typename Case::pool_type;
    using handle_type = typename Case::handle_type;
    using object_type = typename Case::object_type;

    explicit told_world(std::size_t log_frames = 64, pool_options options = Case::options())
        : pool_(options), log_(pool_, {.frames = log_frames}), ring_(log_, {.frames = 4}) {
        Case::add_to(all_, pool_);
        all_.add("calls", calls_);
        Case::add_to(recorder_, log_);
        recorder_.add("calls", calls_);
    }

    std::vector<std::byte> save() {
        std::vector<std::byte> bytes;
        all_.save(bytes);
        return bytes;
    }
    std::vector<std::byte> append(std::uint64_t frame) {
        std::vector<std::byte> bytes;
        recorder_.append(frame, bytes);
        return bytes;
    }

    void play(std::uint64_t seed, int calls) {
        std::mt19937_64 engine(seed);
        const auto below = [&engine](std::uint64_t end) { return engine() % end; };
        for (int i = 0; i != calls; ++i) {
            ++calls_;
            const std::uint64_t kind = below(200);
            if (kind < 176) {
                step(below, pool_);
            } else if (kind < 180 && !only_what_follows_from_a_snapshot_) {
                pool_.compact_some(below(6));
            } else if (kind < 184) {
                pool_.compact();
            } else if (kind < 188 && !only_what_follows_from_a_snapshot_) {
                auto alone = pool_.exclusive_access();
                for (std::uint64_t left = below(30); left != 0; --left) {
                    step(below, alone);
                }
            } else if (kind < 189 && below(6) == 0) {
                pool_.clear();
            } else if (kind < 190 && below(12) == 0) {
                pool_.reset();
                ever_.erase(ever_.begin(),
                            ever_.end() - std::min<std::ptrdiff_t>(std::ssize(ever_), 100)); // most are stale
            } else if (kind < 194) {
                sort_it(below);
            } else if (only_what_follows_from_a_snapshot_) {
                pool_.compact();
            } else if (kind < 197) {
                ring_.capture(++captured_);
            } else if (kind < 198 && below(2) == 0 && ring_.newest() && ring_.contains(*ring_.newest())) {
                ring_.restore(below(2) == 0 || !ring_.contains(*ring_.oldest()) ? *ring_.newest()
                                                                                : *ring_.oldest());
            } else if (kind < 199 && below(4) == 0) {
                if (kept_.empty() || below(2) == 0) {
                    kept_ = save();
                } else {
                    all_.load(kept_);
                }
            }
        }
    }

    /// Of all objects, in their order.
    std::vector<std::pair<handle_type, std::uint64_t>> objects() {
        std::vector<std::pair<handle_type, std::uint64_t>> all;
        for (const auto& [handle, object] : pool_.entries()) {
            all.emplace_back(handle, object.id * 1'000 + object.value);
        }
        return all;
    }
    /// Of these handles, and what their objects are.
    std::vector<std::pair<handle_state, std::uint64_t>>
    states(const std::vector<handle_type>& handles) const {
        std::vector<std::pair<handle_state, std::uint64_t>> all;
        for (const handle_type each : handles) {
            const auto* const found = pool_.find(each);
            all.emplace_back(pool_.state(each), found == nullptr ? 0 : found->id * 1'000 + found->value);
        }
        return all;
    }

    /// From here on, no calls whose outcome depends on more than a snapshot has: on sorts that have begun, on
    /// captures, and on the places of a stable pool or a nursery that come next, as it does with a budget or
    /// exclusive access.
    void do_only_what_follows_from_a_snapshot() { only_what_follows_from_a_snapshot_ = true; }

    pool_type& pool() { return pool_; }
    change_log<pool_type>& log() { return log_; }
    delta_recorder& recorder() { return recorder_; }
    snapshot& all() { return all_; }
    std::uint64_t& calls() { return calls_; }
    std::vector<handle_type>& ever() { return ever_; }
    std::uint64_t& next_id() { return next_id_; }

private:
    template <class Below, class Access>
    void step(Below& below, Access& access) {
        const std::uint64_t kind = below(44);
        if (kind < 14) {
            note(access.try_emplace(Case::object(next_id_++)));
        } else if (kind < 22) {
            if (!ever_.empty()) {
                access.erase(any(below));
            }
        } else if (kind < 24) {
            std::vector<handle_type> made;
            const std::size_t count = below(12);
            access.try_emplace_n(count, std::back_inserter(made),
                                 [this](std::size_t) { return Case::object(next_id_++); });
            for (const handle_type each : made) {
                note(each);
            }
        } else if (kind < 26) {
            note(access.try_reserve_handle());
        } else if (kind < 28) {
            if (!ever_.empty()) {
                access.try_fulfill(any(below), Case::object(next_id_++));
            }
        } else if (kind < 29) {
            if (!ever_.empty()) {
                access.cancel(any(below));
            }
        } else if (kind < 31) {
            if (!ever_.empty()) {
                note(access.revoke(any(below)));
            }
        } else if (kind < 32 && !(only_what_follows_from_a_snapshot_ && !Case::is_dense)) {
            erase_if(access,
                     [modulus = 3 + below(40)](const object_type& each) { return each.id % modulus == 0; });
        } else if (!ever_.empty()) {
            if (const auto edited = log_.edit(any(below))) {
                ++edited->value;
            }
        }
    }
    template <class Below>
    void sort_it(Below& below) {
        if constexpr (Case::is_dense) {
            const auto key = [salt = below(1 << 20)](const object_type& each) {
                return (each.id ^ salt) * 0x9e3779b97f4a7c15U >> 40;
            };
            if (below(2) == 0 || only_what_follows_from_a_snapshot_) {
                sort_by(pool_, key);
            } else {
                sort_some_by(pool_, key, below(60));
            }
        }
    }
    void note(handle_type handle) {
        if (handle) {
            ever_.push_back(handle);
        }
    }
    template <class Below>
    handle_type any(Below& below) {
        // Mostly one of the last, so that many live.
        const std::uint64_t back = below(4) == 0 ? ever_.size() : std::min<std::uint64_t>(ever_.size(), 60);
        return ever_[ever_.size() - 1 - below(back)];
    }

    pool_type pool_;
    change_log<pool_type> log_;
    capture_ring<pool_type> ring_;
    snapshot all_;
    delta_recorder recorder_;
    bool only_what_follows_from_a_snapshot_ = false;
    std::uint64_t calls_ = 0;
    std::uint64_t captured_ = 0;
    std::uint64_t next_id_ = 1;
    std::vector<handle_type> ever_;
    std::vector<std::byte> kept_;
};

} // namespace handlepool::test
