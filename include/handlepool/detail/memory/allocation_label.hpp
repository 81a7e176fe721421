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
class allocation_label {
public:
    /// A mapping of its own. Implicit, so that a text will do.
    allocation_label(std::string_view text) noexcept : text_(text) {}
    allocation_label(const char* text) noexcept : text_(text) {}
    allocation_label(const std::string& text) noexcept : text_(text) {}

    /// Something of a pool.
    static allocation_label of_pool(std::string_view name, memory_plan* plan = nullptr) noexcept {
        allocation_label pool(name);
        pool.plan_ = plan;
        pool.is_pool_ = true;
        return pool;
    }

    /// A part of it: `text`, which begins with a space, comes after what is said of the whole.
    allocation_label part(std::string_view text) const noexcept {
        allocation_label of_this(text);
        of_this.whole_ = this;
        of_this.plan_ = plan_;
        of_this.rarely_ = rarely_;
        return of_this;
    }

    /// This label for an array that is used from its end, and for one that many pools never use.
    allocation_label from_end() const noexcept {
        allocation_label same(*this);
        same.from_end_ = true;
        return same;
    }
    allocation_label rarely() const noexcept {
        allocation_label same(*this);
        same.rarely_ = true;
        return same;
    }

    /// This label for an array that asks for memory before it uses it, see virtual_memory::make_ready: it
    /// takes none for the rest.
    allocation_label in_steps() const noexcept {
        allocation_label same(*this);
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
    const allocation_label* whole_ = nullptr;
    memory_plan* plan_ = nullptr;
    bool is_pool_ = false;
    bool from_end_ = false;
    bool rarely_ = false;
    bool in_steps_ = false;
};

} // namespace handlepool::detail
