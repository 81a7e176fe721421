// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/text/message.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool::detail {

class memory_plan;

/// What an array is for, and where its memory comes from: from a plan, or from a mapping of its own. The text
/// is put together only when somebody wants to read it: "pool 'ships' nursery chunks", say.
///
/// For parameters alone: it refers to the texts, and to the purpose that it is a part of.
class memory_purpose {
public:
    /// A mapping of its own. Implicit, so that a text will do.
    memory_purpose(std::string_view text) noexcept : text_(text) {}
    memory_purpose(const char* text) noexcept : text_(text) {}
    memory_purpose(const std::string& text) noexcept : text_(text) {}

    /// Something of a pool.
    static memory_purpose of_pool(std::string_view name, memory_plan* plan = nullptr) noexcept {
        memory_purpose pool(name);
        pool.plan_ = plan;
        pool.is_pool_ = true;
        return pool;
    }

    /// A part of it: `text`, which begins with a space, comes after what is said of the whole.
    memory_purpose part(std::string_view text) const noexcept {
        memory_purpose of_this(text);
        of_this.whole_ = this;
        of_this.plan_ = plan_;
        of_this.rarely_ = rarely_;
        return of_this;
    }

    /// The same for an array that is used from its end, and for one that many pools never use.
    memory_purpose from_end() const noexcept {
        memory_purpose same(*this);
        same.from_end_ = true;
        return same;
    }
    memory_purpose rarely() const noexcept {
        memory_purpose same(*this);
        same.rarely_ = true;
        return same;
    }

    /// The same for an array that asks for memory before it uses it, see virtual_memory::make_ready: it takes
    /// none for the rest.
    memory_purpose in_steps() const noexcept {
        memory_purpose same(*this);
        same.in_steps_ = true;
        return same;
    }

    memory_plan* plan() const noexcept { return plan_; }
    bool is_from_end() const noexcept { return from_end_; }
    bool is_rarely_used() const noexcept { return rarely_; }
    bool is_in_steps() const noexcept { return in_steps_; }

    HANDLEPOOL_EXPORT fixed_message text() const noexcept;

private:
    std::string_view text_;
    const memory_purpose* whole_ = nullptr;
    memory_plan* plan_ = nullptr;
    bool is_pool_ = false;
    bool from_end_ = false;
    bool rarely_ = false;
    bool in_steps_ = false;
};

} // namespace handlepool::detail
