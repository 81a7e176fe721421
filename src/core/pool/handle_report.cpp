// SPDX-License-Identifier: MIT
#include <handlepool/detail/pool/handle_report.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <tuple>

namespace handlepool::detail {

namespace {

/// "; created 412 frames ago by thread \"main\" in spawn_wave() at waves.cpp:30", if that is recorded.
std::string beginning_of(const recorded_life& life) {
    return life.beginning ? "; " + life.beginning->to_string() : std::string();
}

std::string reason(const handle_report& handle) {
    if (!handle.fits_layout) {
        return "bits are set that its layout leaves out";
    }
    if (handle.pool_id != handle.own_pool_id) {
        return "it belongs to another pool; this one has pool id " + std::to_string(handle.own_pool_id);
    }
    if (handle.generation % 2 == 0) {
        return "no object ever had this generation; an object's is odd";
    }
    if (handle.generation <= handle.first_generation) {
        return handle.last_reset
                   ? "its object was forgotten by a reset, the last one" +
                         handle.last_reset->to_string().substr(to_string(handle.last_reset->event).size()) +
                         ", or lived in a former pool with this id"
                   : "its object was forgotten by a reset, or lived in a former pool with this id";
    }
    const bool has_ended = handle.life.end && !handle.life.end->is_undone;
    if (handle.life.beginning && handle.life.beginning->is_undone && !has_ended) {
        const bool has_end = handle.life.end && handle.life.end->event != life_event::undone;
        return "undone by a restore" + (has_end ? "; " + handle.life.end->to_string() : std::string()) +
               beginning_of(handle.life);
    }
    if (handle.index >= handle.slots_in_service) {
        return "no such slot was ever used; there are " + std::to_string(handle.slots_in_service);
    }
    if (handle.generation > handle.slot_generation) {
        return "no object had this generation yet; the slot is at " + std::to_string(handle.slot_generation);
    }
    if (handle.cancelled) {
        return "reserved and " + (has_ended ? handle.life.end->to_string() : "cancelled");
    }
    if (has_ended) {
        return handle.life.end->to_string() + beginning_of(handle.life);
    }
    if (handle.slot_generation == handle.generation + 1) {
        return std::string("erased").append(handle.frames_since_death ? frames_ago(*handle.frames_since_death)
                                                                      : "");
    }
    return "erased, and the slot has been used again since, or revoked; the slot is at generation " +
           std::to_string(handle.slot_generation) +
           (handle.lives_kept == 0
                ? ""
                : ", and its last " +
                      (handle.lives_kept == 1 ? std::string("life is")
                                              : std::to_string(handle.lives_kept) + " lives are") +
                      " recorded");
}

std::string life_so_far(const handle_report& handle) {
    if (handle.life.beginning) {
        // Of another course of events, unless it was the end of an earlier life with this handle.
        const auto& end = handle.life.end;
        const bool is_taken_back = end && end->is_undone && end->event != life_event::undone &&
                                   end->frames_ago <= handle.life.beginning->frames_ago;
        return "alive" + beginning_of(handle.life) +
               (is_taken_back ? "; taken back: " + end->to_string() : std::string());
    }
    return handle.frames_since_birth
               ? std::string("alive, created").append(frames_ago(*handle.frames_since_birth))
               : "alive";
}

std::string naming(std::string_view pool, const handle_report& handle) {
    return quoted_pool(pool) + ": handle " + name_of_handle(handle.index, handle.generation) + " pool " +
           std::to_string(handle.pool_id);
}

} // namespace

std::string describe_refusal(std::string_view pool, const handle_report& handle) {
    if (handle.null) {
        return quoted_pool(pool) + ": the null handle names no object";
    }
    return naming(pool, handle) +
           (handle.reserved ? " is reserved and has no object yet" : " is stale: " + reason(handle));
}

std::string describe_unreserved(std::string_view pool, bool alive, const handle_report& handle) {
    if (handle.null) {
        return quoted_pool(pool) + ": the null handle is never reserved";
    }
    return naming(pool, handle) + " is not reserved: " +
           (alive             ? "it has its object"
            : handle.reserved ? "another thread is making its object"
                              : reason(handle));
}

std::string describe_handle(std::string_view pool, bool alive, const handle_report& handle) {
    if (handle.null) {
        return printable(pool) + " null";
    }
    return printable(pool) + ' ' + name_of_handle(handle.index, handle.generation) + ": " +
           (handle.reserved ? "reserved, no object yet"
            : !alive        ? reason(handle)
                            : life_so_far(handle));
}

void keep_oldest(std::vector<aged_handle>& handles, std::size_t most) noexcept {
    const std::size_t count = std::min(most, handles.size());
    const auto age = [](const aged_handle& one) {
        return std::tuple(~one.frames, one.generation, one.index);
    };
    std::ranges::partial_sort(handles, handles.begin() + static_cast<std::ptrdiff_t>(count), {}, age);
    handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(count), handles.end());
}

} // namespace handlepool::detail
