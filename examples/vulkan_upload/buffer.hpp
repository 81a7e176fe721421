// SPDX-License-Identifier: MIT
#pragma once

#include "device.hpp"
#include "owned.hpp"
#include "result.hpp"

#include <fmt/format.h>
#include <vulkan/vulkan.h>

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace vulkan_upload {

/// What a buffer is for, which decides where its memory lies.
struct buffer_use {
    std::string_view name;
    VkBufferUsageFlags usage;
    VkMemoryPropertyFlags best;
    VkMemoryPropertyFlags enough; // every device has some

    constexpr bool is_mapped() const { return (enough & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0; }
};

constexpr VkMemoryPropertyFlags seen_by_both =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

/// Shaders read it: from memory of the device's own, where it has some.
constexpr buffer_use for_shaders = {.name = "shaders",
                                    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                             VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                    .best = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                    .enough = 0};
/// The processor writes it, and the device copies from it.
constexpr buffer_use for_staging = {.name = "staging",
                                    .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                                    .best = seen_by_both,
                                    .enough = seen_by_both};
/// The device copies to it, and the processor reads.
constexpr buffer_use for_reading_back = {.name = "reading back",
                                         .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                         .best = seen_by_both | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                         .enough = seen_by_both};

/// A buffer in memory of its own.
class buffer {
public:
    /// Of at least one byte. Throws std::runtime_error, which says what the buffer was for.
    buffer(const device& on, VkDeviceSize bytes, const buffer_use& use)
        : buffer_(on.get(), buffer_info(bytes, use),
                  fmt::format("vkCreateBuffer of {} bytes for {}", bytes, use.name)),
          memory_(on.get(), memory_info(on, buffer_.get(), use),
                  fmt::format("vkAllocateMemory of {} bytes for {}", bytes, use.name)) {
        require_success(vkBindBufferMemory(on.get(), buffer_.get(), memory_.get(), 0), "vkBindBufferMemory");
        if (use.is_mapped()) {
            void* begin = nullptr;
            require_success(vkMapMemory(on.get(), memory_.get(), 0, VK_WHOLE_SIZE, 0, &begin),
                            fmt::format("vkMapMemory of {} bytes for {}", bytes, use.name));
            mapped_ = static_cast<std::byte*>(begin);
        }
    }

    VkBuffer get() const noexcept { return buffer_.get(); }

    /// Where the processor finds it; null if it can't. Constant for as long as the buffer lives.
    std::byte* mapped() const noexcept { return mapped_; }

private:
    static VkBufferCreateInfo buffer_info(VkDeviceSize bytes, const buffer_use& use) {
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = bytes;
        info.usage = use.usage;
        info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
        return info;
    }

    static VkMemoryAllocateInfo memory_info(const device& on, VkBuffer of, const buffer_use& use) {
        VkMemoryRequirements required;
        vkGetBufferMemoryRequirements(on.get(), of, &required);
        for (const VkMemoryPropertyFlags wanted : {use.best, use.enough}) {
            if (const auto type = on.find_memory_type(required.memoryTypeBits, wanted)) {
                VkMemoryAllocateInfo info{};
                info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
                info.allocationSize = required.size;
                info.memoryTypeIndex = *type;
                return info;
            }
        }
        throw std::runtime_error(fmt::format("{} has no memory for {}", on.name(), use.name));
    }

    owned<VkBuffer, vkCreateBuffer, vkDestroyBuffer> buffer_;
    owned<VkDeviceMemory, vkAllocateMemory, vkFreeMemory> memory_; // which also ends the mapping
    std::byte* mapped_ = nullptr;
};

} // namespace vulkan_upload
