// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/snapshots/rehearsal.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace handlepool {

std::string to_string(const rehearsal_difference& difference) {
    std::string text = "frame " + std::to_string(difference.frame) +
                       " was not the same when it was played again" + " from frame " +
                       std::to_string(difference.taken_back_to);
    for (const snapshot_difference& each : difference.differences.found) {
        text.append("\n  ").append(to_string(each));
    }
    if (difference.differences.left_out != 0) {
        text.append("\n  and ").append(std::to_string(difference.differences.left_out)).append(" more");
    }
    return text;
}

rehearsal::rehearsal(world& past, snapshot& present, std::size_t frames)
    : past_(past), present_(present), frames_(frames) {
    if (frames == 0 || frames >= past.capacity()) {
        detail::throw_exception(std::invalid_argument("a rehearsal that goes " + std::to_string(frames) +
                                                      " frames back is not allowed; allowed are 1 to " +
                                                      std::to_string(past.capacity() - 1) +
                                                      ", one fewer than the world keeps"));
    }
}

void rehearsal::begin(std::uint64_t frame) {
    kept_.clear();
    kept_.push_back(keep(frame));
}

std::optional<rehearsal_difference> rehearsal::play(std::uint64_t frame,
                                                    const std::function<void(std::uint64_t)>& play) {
    if (kept_.empty()) {
        detail::throw_exception(std::logic_error("a rehearsal plays a frame before begin()"));
    }
    if (frame <= kept_.back().frame) {
        detail::throw_exception(std::invalid_argument("a rehearsal plays frame " + std::to_string(frame) +
                                                      " after frame " + std::to_string(kept_.back().frame)));
    }
    std::vector<kept_frame> all = std::exchange(kept_, {}); // given back when nothing was thrown
    play(frame);
    all.push_back(keep(frame));
    past_.restore(all.front().frame);
    std::optional<rehearsal_difference> first;
    for (std::size_t i = 1; i != all.size(); ++i) {
        play(all[i].frame);
        kept_frame again = keep(all[i].frame);
        if (!first && again.bytes != all[i].bytes) {
            snapshot_differences differences = compare_snapshots(
                all[i].bytes, again.bytes, {.first = "the first time", .second = "the second time"});
            if (!differences.found.empty()) {
                first = {all[i].frame, all.front().frame, std::move(differences)};
            }
        }
        all[i] = std::move(again);
    }
    if (all.size() > frames_) {
        all.erase(all.begin());
    }
    kept_ = std::move(all);
    return first;
}

rehearsal::kept_frame rehearsal::keep(std::uint64_t frame) {
    kept_frame kept{.frame = frame};
    past_.capture(frame);
    present_.save(kept.bytes);
    return kept;
}

} // namespace handlepool
