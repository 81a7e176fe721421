// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/exclusive/exclusive_session.hpp>
#include <handlepool/detail/exclusive/exclusive_store.hpp>
#include <handlepool/detail/parts/emplace_transaction.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// The place that lies `places` behind the first one.
constexpr location further(location first, std::size_t places) noexcept {
    return location{raw(first) + static_cast<std::uint32_t>(places)};
}

/// An object that is made for a slot, under exclusive access. Gives slot and place back where that fails.
template <class T, class Config>
class exclusive_object {
    using session_type = exclusive_session<T, Config>;
    using store_type = exclusive_store<T, Config>;

public:
    HANDLEPOOL_ALWAYS_INLINE exclusive_object(session_type& session,
                                              slot_index slot) noexcept(memory_by_touch)
        : session_(session), slot_(session.parts(), slot), where_(store_type::take(session.parts())) {}
    ~exclusive_object() {
        if (where_ != location::nowhere) {
            session_.parts().objects.poison_objects(where_);
            store_type::give_back(session_.parts(), where_);
            session_.settle_step();
        }
    }

    exclusive_object(const exclusive_object&) = delete;
    exclusive_object& operator=(const exclusive_object&) = delete;

    /// False when there is no place.
    bool taken() const noexcept { return store_type::always_has_places || where_ != location::nowhere; }

    template <class Construct>
    HANDLEPOOL_ALWAYS_INLINE void construct(Construct& construct) {
        auto& parts = session_.parts();
        parts.objects.unpoison_objects(where_);
        const typename session_type::calling_step now(session_);
        construct(parts.newborns.memory_at(parts.objects, where_));
    }
    location release() noexcept {
        slot_.release();
        return std::exchange(where_, location::nowhere);
    }

private:
    session_type& session_;
    taken_slot<T, Config> slot_;
    location where_;
};

/// Objects that are made at neighbouring places: all, or none.
template <class T, class Config>
class exclusive_batch {
    using session_type = exclusive_session<T, Config>;
    using store_type = exclusive_store<T, Config>;

public:
    exclusive_batch(session_type& session, std::size_t count) noexcept(memory_by_touch)
        : session_(session),
          count_(count),
          first_(store_type::take_many(session.parts(), count)),
          step_(session) {}
    ~exclusive_batch() {
        if (made_ != count_) {
            auto& parts = session_.parts();
            parts.objects.poison_objects(further(first_, made_));
            for (; made_ != 0; --made_) {
                parts.newborns.end_object(parts.objects, further(first_, made_ - 1));
            }
        }
    }

    exclusive_batch(const exclusive_batch&) = delete;
    exclusive_batch& operator=(const exclusive_batch&) = delete;

    /// Returns the first place.
    template <class Construct>
    location construct(Construct& construct) {
        auto& parts = session_.parts();
        for (std::size_t i = 0; i != count_; ++i) {
            const location where = further(first_, i);
            parts.objects.unpoison_objects(where);
            construct(parts.newborns.memory_at(parts.objects, where));
            made_ = i + 1;
        }
        return first_;
    }

private:
    session_type& session_;
    const std::size_t count_;
    const location first_;
    const typename session_type::calling_step step_;
    std::size_t made_ = 0;
};

} // namespace handlepool::detail
