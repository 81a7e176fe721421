// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>
#include <vulkan/vulkan.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace vulkan_upload {

/// Vulkan's name of what may become of the calls here, and the number of all else.
inline std::string name_of(VkResult result) {
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
        return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
        return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_LAYER_NOT_PRESENT:
        return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "VK_ERROR_TOO_MANY_OBJECTS";
    default:
        return fmt::format("VkResult {}", static_cast<int>(result));
    }
}

/// Throws std::runtime_error that says which call has failed, and how, unless it was successful.
inline void require_success(VkResult result, std::string_view call) {
    if (result != VK_SUCCESS) {
        throw std::runtime_error(fmt::format("{}: {}", call, name_of(result)));
    }
}

} // namespace vulkan_upload
