// SPDX-License-Identifier: MIT
#pragma once

#include "result.hpp"

#include <vulkan/vulkan.h>

#include <string_view>

namespace vulkan_upload {

/// An object of a device, from `create` to `destroy`.
template <class Object, auto create, auto destroy>
class owned {
public:
    /// Throws what require_success() does.
    template <class Info>
    owned(VkDevice device, const Info& info, std::string_view call) : device_(device) {
        require_success(create(device, &info, nullptr, &object_), call);
    }
    ~owned() { destroy(device_, object_, nullptr); }

    owned(const owned&) = delete;
    owned& operator=(const owned&) = delete;

    Object get() const noexcept { return object_; }

private:
    VkDevice device_;
    Object object_{};
};

} // namespace vulkan_upload
