// SPDX-License-Identifier: MIT
#include "depots.hpp"

#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/recorded_life.hpp>

namespace handlepool {

std::string_view to_string(life_event event) noexcept {
    switch (event) {
    case life_event::created:
        return "created";
    case life_event::loaded:
        return "loaded";
    case life_event::renamed:
        return "given this handle";
    case life_event::erased:
        return "erased";
    case life_event::cleared:
        return "cleared";
    case life_event::extracted:
        return "extracted";
    case life_event::drained:
        return "drained";
    case life_event::revoked:
        return "revoked";
    case life_event::undone:
        return "undone";
    case life_event::cancelled:
        return "cancelled";
    case life_event::forgotten:
        return "forgotten";
    default:
        return "not recorded";
    }
}

std::string recorded_event::to_string() const {
    return std::string(handlepool::to_string(event))
        .append(detail::frames_ago(frames_ago))
        .append(detail::text_of_caller(thread, task, site.name()));
}

namespace detail {

std::string frames_ago(std::uint32_t frames) {
    switch (frames) {
    case 0:
        return " in this frame";
    case 1:
        return " 1 frame ago";
    default:
        return std::string(" ").append(std::to_string(frames)).append(" frames ago");
    }
}

std::string text_of_caller(std::string_view thread, std::string_view task, std::string_view site) {
    std::string text;
    if (!thread.empty()) {
        text.append(" by thread \"").append(printable(thread)).append("\"");
    }
    if (!task.empty()) {
        text.append(thread.empty() ? " by" : ",").append(" task \"").append(printable(task)).append("\"");
    }
    if (!site.empty()) {
        text.append(" in ").append(site);
    }
    return text;
}

recorded_event recorded(const life_record& record, std::uint32_t frames_since) {
    const std::uint32_t actor = actor_of(record.who);
    return {.event = record.event,
            .frames_ago = frames_since,
            .site = call_site(site_of(record.who)),
            .thread = thread_of(actor),
            .task = task_of(actor),
            .is_undone = record.is_undone};
}

} // namespace detail
} // namespace handlepool
