// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/frame_refusals.hpp>
#include <handlepool/error.hpp>

#include <stdexcept>
#include <string>

namespace handlepool::detail {

namespace {

std::string message(std::string_view owner, const std::string& what) {
    return std::string(owner).append(": ").append(what);
}
std::string named(std::uint64_t frame) {
    return "frame " + std::to_string(frame);
}

} // namespace

void throw_not_so_many(std::string_view owner, std::size_t frames, std::size_t most) {
    throw_exception(std::invalid_argument(message(owner, "frames is " + std::to_string(frames) +
                                                             ", and must be 1 to " + std::to_string(most))));
}

void throw_not_ended(std::string_view owner, std::uint64_t frame, std::uint64_t last) {
    throw_exception(std::out_of_range(
        message(owner, named(frame) + " has not ended; the last one that has is " + std::to_string(last))));
}

void throw_not_ascending(std::string_view owner, std::uint64_t frame, std::uint64_t newest) {
    throw_exception(std::invalid_argument(
        message(owner, named(frame) + " can't be captured after " + named(newest) + "; numbers ascend")));
}

void throw_not_kept(std::string_view owner, std::uint64_t frame, std::optional<std::uint64_t> oldest,
                    std::optional<std::uint64_t> newest) {
    std::string kept = "none is";
    if (oldest && newest) {
        kept = "the oldest is " + std::to_string(*oldest) + ", the newest " + std::to_string(*newest);
    }
    throw_exception(std::out_of_range(message(owner, named(frame) + " is not kept; " + kept)));
}

void throw_was_reset(std::string_view owner, std::uint64_t newest) {
    throw_exception(std::logic_error(
        message(owner, "the pool was reset after " + named(newest) + ", so no frame can be restored")));
}

void throw_no_copies(std::string_view owner, bool destroys) {
    throw_exception(std::invalid_argument(message(
        owner, std::string("objects are captured by copies, and their raw_type has a function that ") +
                   (destroys ? "destroys" : "relocates") + ", but none that copies")));
}

void throw_kept_by_another(std::string_view owner) {
    throw_exception(
        std::logic_error(message(owner, "objects that can't be copied are kept by another ring already")));
}

void throw_lost_object(std::string_view owner, std::uint64_t frame, std::uint64_t index,
                       std::uint32_t generation) {
    throw_exception(std::logic_error(
        message(owner, named(frame) + " can't be restored: the object of handle " +
                           name_of_handle(index, generation) +
                           " was handed over by extract() or drain(), or there was no memory to keep it")));
}

void throw_used_up(std::string_view owner, std::uint64_t frame, std::uint32_t slot) {
    throw_exception(std::overflow_error(
        message(owner, named(frame) + " can't be restored: slot " + std::to_string(slot) +
                           " has used up its generations since, and its handles could not stay stale")));
}

void throw_never_undone(std::string_view owner) {
    throw_exception(compaction_conflict(
        message(owner, "hooks of on_destroy() create objects again and again during restore()")));
}

} // namespace handlepool::detail
