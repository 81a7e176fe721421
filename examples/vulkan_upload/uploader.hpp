// SPDX-License-Identifier: MIT
#pragma once

#include "buffer.hpp"
#include "device.hpp"

#include <handlepool/time/change_log.hpp>

#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace vulkan_upload {

/// What an upload was.
struct uploaded {
    enum class reason { changes, new_buffer, gap };

    reason why; // what has changed, or all: because the buffer is new, or the log has lost what has changed
    std::size_t ranges;
    std::size_t bytes;
};

/// Keeps a buffer of a device equal to the objects of a pool, by what a log of the pool says was written.
///
/// ```
///   items()   ▕▓▓░░░░▓░░░▓▓▓░░░░▏    ▓ written since the last upload
///              │     │   │
///              │  ╭──╯╭──╯           memcpy, one range behind the other
///              ▼  ▼   ▼
///   staging   ▕▓▓▓▓▓▓▏               memory that both see
///              │  │╰──╮
///              │  ╰──╮╰──╮           vkCmdCopyBuffer, a region each
///              ▼     ▼   ▼
///   buffer    ▕▓▓░░░░▓░░░▓▓▓░░░░▏    the device's own memory, where it has some
/// ```
///
/// All is uploaded the first time, when the objects have outgrown the buffer, and when the log no longer
/// keeps all frames since the last upload. Each upload waits for the device. An engine would let the device
/// work meanwhile, with a staging buffer for each frame that is under way, to be written again when the
/// frame's fence is signalled.
///
/// @tparam Pool with a dense store, of objects that consist of bytes
template <class Pool>
class uploader {
    using object = typename Pool::value_type;
    static_assert(std::is_trivially_copyable_v<object>);

public:
    /// Uploads nothing yet. Ranges with no more than `max_gap` objects between them are one.
    uploader(device& to, const handlepool::change_log<Pool>& log, std::size_t max_gap)
        : device_(to), log_(log), max_gap_(max_gap) {}

    /// Within the frame contract, before another object is written. Throws std::runtime_error and
    /// std::bad_alloc; the next call uploads what this one should have.
    uploaded upload() {
        const std::span<const object> items = log_.pool().items();
        if (items.size() > capacity_) {
            grow(items.size());
        }
        regions_.clear();
        staged_ = 0;
        uploaded::reason why = uploaded::reason::new_buffer;
        if (seen_) {
            const auto stage_range = [&](handlepool::position_range range) { stage(items, range); };
            const bool is_kept = log_.for_each_upload_range(*seen_, max_gap_, stage_range);
            why = is_kept ? uploaded::reason::changes : uploaded::reason::gap;
        }
        if (why != uploaded::reason::changes) {
            stage(items, {.first = 0, .last = items.size()});
        }
        if (staged_ != 0) { // Vulkan wants one region at the least
            copy(buffers_->staging, buffers_->shaders, regions_);
        }
        seen_ = log_.frame();
        return {.why = why, .ranges = regions_.size(), .bytes = staged_};
    }

    /// The objects of the last upload as the device has them; valid until the next call of either function.
    /// Throws std::runtime_error.
    std::span<const std::byte> read_back() {
        const std::size_t bytes = log_.pool().items().size_bytes();
        if (bytes == 0) {
            return {};
        }
        copy(buffers_->shaders, buffers_->reading_back, {{.srcOffset = 0, .dstOffset = 0, .size = bytes}});
        return {buffers_->reading_back.mapped(), bytes};
    }

private:
    struct buffers {
        buffers(const device& on, std::size_t bytes)
            : shaders(on, bytes, for_shaders),
              staging(on, bytes, for_staging),
              reading_back(on, bytes, for_reading_back) {}

        buffer shaders;
        buffer staging;
        buffer reading_back;
    };

    /// By a quarter at the least, so that it does not happen often.
    void grow(std::size_t objects) {
        const std::size_t capacity = std::max(objects, capacity_ + capacity_ / 4);
        buffers_ = std::make_unique<buffers>(device_, capacity * sizeof(object));
        capacity_ = capacity;
        seen_.reset();
    }

    void stage(std::span<const object> items, handlepool::position_range range) {
        const std::span<const object> part = items.subspan(range.first, range.last - range.first);
        regions_.push_back(
            {.srcOffset = staged_, .dstOffset = range.first * sizeof(object), .size = part.size_bytes()});
        std::memcpy(buffers_->staging.mapped() + staged_, part.data(), part.size_bytes());
        staged_ += part.size_bytes();
    }

    void copy(const buffer& from, const buffer& to, const std::vector<VkBufferCopy>& regions) {
        device_.execute([&](VkCommandBuffer commands) {
            vkCmdCopyBuffer(commands, from.get(), to.get(), static_cast<std::uint32_t>(regions.size()),
                            regions.data());
        });
    }

    device& device_;
    const handlepool::change_log<Pool>& log_;
    std::size_t max_gap_;
    std::unique_ptr<buffers> buffers_;
    std::size_t capacity_ = 0;          // of each buffer, in objects
    std::optional<std::uint64_t> seen_; // the frame that the device has; nothing while the buffer is new
    std::vector<VkBufferCopy> regions_; // of an upload, like the bytes in the staging buffer
    std::size_t staged_ = 0;
};

} // namespace vulkan_upload
