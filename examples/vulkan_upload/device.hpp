// SPDX-License-Identifier: MIT
#pragma once

#include "owned.hpp"
#include "result.hpp"

#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vulkan_upload {

/// The fastest device of the machine, and a queue of it that can copy.
class device {
public:
    /// Throws std::runtime_error, which says what to install if there is no device.
    device()
        : instance_(make_instance()),
          physical_(find_fastest(instance_.get())),
          family_(find_family(physical_)),
          device_(make_device(physical_, family_)),
          pool_(device_.get(), pool_info(family_), "vkCreateCommandPool"),
          fence_(device_.get(), fence_info(), "vkCreateFence") {
        vkGetDeviceQueue(device_.get(), family_, 0, &queue_);
        VkCommandBufferAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        info.commandPool = pool_.get();
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = 1;
        require_success(vkAllocateCommandBuffers(device_.get(), &info, &commands_),
                        "vkAllocateCommandBuffers");
    }

    device(const device&) = delete;
    device& operator=(const device&) = delete;

    /// Calls `record(commands)`, which records copies, and returns when the device has made them; the
    /// processor and later copies see what was written. Throws std::runtime_error; then, too, the device has
    /// come to rest.
    template <class Record>
    void execute(const Record& record) {
        require_success(vkResetCommandPool(device_.get(), pool_.get(), 0), "vkResetCommandPool");
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        require_success(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
        record(commands_);
        make_visible(commands_);
        require_success(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");

        const VkFence done = fence_.get();
        require_success(vkResetFences(device_.get(), 1, &done), "vkResetFences");
        VkSubmitInfo submit{};
        submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands_;
        require_success(vkQueueSubmit(queue_, 1, &submit, done), "vkQueueSubmit");
        const VkResult waited =
            vkWaitForFences(device_.get(), 1, &done, VK_TRUE, std::numeric_limits<std::uint64_t>::max());
        if (waited != VK_SUCCESS) {
            vkDeviceWaitIdle(device_.get()); // callers are about to end what it may be using
        }
        require_success(waited, "vkWaitForFences");
    }

    /// A type of memory, one of those in the bits of `allowed`, that has all of these properties.
    std::optional<std::uint32_t> find_memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const {
        VkPhysicalDeviceMemoryProperties memory;
        vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
        for (std::uint32_t i = 0; i != memory.memoryTypeCount; ++i) {
            if ((allowed >> i & 1U) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
                return i;
            }
        }
        return std::nullopt;
    }

    VkDevice get() const noexcept { return device_.get(); }
    std::string name() const { return properties_of(physical_).deviceName; }

private:
    struct ends {
        void operator()(VkInstance instance) const { vkDestroyInstance(instance, nullptr); }
        void operator()(VkDevice device) const { vkDestroyDevice(device, nullptr); }
    };
    using owned_instance = std::unique_ptr<VkInstance_T, ends>;
    using owned_device = std::unique_ptr<VkDevice_T, ends>;

    static owned_instance make_instance() {
        VkApplicationInfo application{};
        application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
        application.pApplicationName = "vulkan_upload";
        application.apiVersion = VK_API_VERSION_1_0;
        VkInstanceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        info.pApplicationInfo = &application;
        VkInstance made = nullptr;
        const VkResult result = vkCreateInstance(&info, nullptr, &made);
        if (result == VK_ERROR_INCOMPATIBLE_DRIVER) { // as the loader says when it finds none
            throw_no_device();
        }
        require_success(result, "vkCreateInstance");
        return owned_instance(made);
    }

    static VkPhysicalDevice find_fastest(VkInstance instance) {
        std::uint32_t count = 0;
        VkResult result = vkEnumeratePhysicalDevices(instance, &count, nullptr);
        std::vector<VkPhysicalDevice> all(count);
        if (result == VK_SUCCESS) {
            result = vkEnumeratePhysicalDevices(instance, &count, all.data());
        }
        // The second is what the loader says when the drivers are for other hardware.
        if (count == 0 && (result == VK_SUCCESS || result == VK_ERROR_INITIALIZATION_FAILED)) {
            throw_no_device();
        }
        require_success(result, "vkEnumeratePhysicalDevices");
        return *std::ranges::min_element(all, {}, rank);
    }

    /// The lower, the faster.
    static int rank(VkPhysicalDevice physical) {
        switch (properties_of(physical).deviceType) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return 0;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return 1;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return 2;
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return 4;
        default:
            return 3;
        }
    }

    [[noreturn]] static void throw_no_device() {
        throw std::runtime_error("no Vulkan driver has found a device: install the driver of the graphics "
                                 "card, or one that computes on the processor, which Debian's "
                                 "mesa-vulkan-drivers has");
    }

    static VkPhysicalDeviceProperties properties_of(VkPhysicalDevice physical) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(physical, &properties);
        return properties;
    }

    static std::uint32_t find_family(VkPhysicalDevice physical) {
        std::uint32_t count = 0;
        vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
        std::vector<VkQueueFamilyProperties> families(count);
        vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
        // Queues that draw or compute can copy too, and need not say so.
        constexpr VkQueueFlags copies = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
        for (std::uint32_t i = 0; i != count; ++i) {
            if ((families[i].queueFlags & copies) != 0) {
                return i;
            }
        }
        throw std::runtime_error(std::string(properties_of(physical).deviceName) +
                                 ": the device has no queue that can copy");
    }

    static owned_device make_device(VkPhysicalDevice physical, std::uint32_t family) {
        const float priority = 1;
        VkDeviceQueueCreateInfo queue{};
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueFamilyIndex = family;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        VkDeviceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
        VkDevice made = nullptr;
        require_success(vkCreateDevice(physical, &info, nullptr, &made), "vkCreateDevice");
        return owned_device(made);
    }

    /// A fence says when copies were made, and this for whom. Where shaders read them, in later commands,
    /// their stages and VK_ACCESS_SHADER_READ_BIT are named too.
    static void make_visible(VkCommandBuffer commands) {
        VkMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask =
            VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                             nullptr, 0, nullptr);
    }

    static VkCommandPoolCreateInfo pool_info(std::uint32_t family) {
        VkCommandPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
        info.queueFamilyIndex = family;
        return info;
    }

    static VkFenceCreateInfo fence_info() {
        VkFenceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        return info;
    }

    // Each is made by those before it.
    owned_instance instance_;
    VkPhysicalDevice physical_;
    std::uint32_t family_;
    owned_device device_;
    owned<VkCommandPool, vkCreateCommandPool, vkDestroyCommandPool> pool_;
    owned<VkFence, vkCreateFence, vkDestroyFence> fence_;
    VkQueue queue_ = nullptr;
    VkCommandBuffer commands_ = nullptr; // ends with its pool
};

} // namespace vulkan_upload
