// SPDX-License-Identifier: MIT

// examples/vulkan_upload/ where calls of Vulkan fail, one in each round: the error says which call that was,
// the next upload makes up for it, and all that was made is destroyed.
#include "uploader.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/time/change_log.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// How many calls are left before one fails; none does while there is no number.
std::optional<int> calls_left;

/// Objects that were made and not yet destroyed.
int alive = 0;

template <class Call>
VkResult call_or_fail(const Call& call) {
    if (calls_left && (*calls_left)-- == 0) {
        calls_left.reset();
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return call();
}

template <class Call>
VkResult make_or_fail(const Call& call) {
    const VkResult result = call_or_fail(call);
    alive += result == VK_SUCCESS ? 1 : 0;
    return result;
}

} // namespace

// The linker puts these in the place of Vulkan's.
extern "C" {

VkResult __real_vkCreateInstance(const VkInstanceCreateInfo*, const VkAllocationCallbacks*, VkInstance*);
VkResult __real_vkCreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo*, const VkAllocationCallbacks*,
                               VkDevice*);
VkResult __real_vkCreateCommandPool(VkDevice, const VkCommandPoolCreateInfo*, const VkAllocationCallbacks*,
                                    VkCommandPool*);
VkResult __real_vkCreateFence(VkDevice, const VkFenceCreateInfo*, const VkAllocationCallbacks*, VkFence*);
VkResult __real_vkCreateBuffer(VkDevice, const VkBufferCreateInfo*, const VkAllocationCallbacks*, VkBuffer*);
VkResult __real_vkAllocateMemory(VkDevice, const VkMemoryAllocateInfo*, const VkAllocationCallbacks*,
                                 VkDeviceMemory*);
VkResult __real_vkMapMemory(VkDevice, VkDeviceMemory, VkDeviceSize, VkDeviceSize, VkMemoryMapFlags, void**);
VkResult __real_vkQueueSubmit(VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence);
VkResult __real_vkWaitForFences(VkDevice, std::uint32_t, const VkFence*, VkBool32, std::uint64_t);
void __real_vkDestroyInstance(VkInstance, const VkAllocationCallbacks*);
void __real_vkDestroyDevice(VkDevice, const VkAllocationCallbacks*);
void __real_vkDestroyCommandPool(VkDevice, VkCommandPool, const VkAllocationCallbacks*);
void __real_vkDestroyFence(VkDevice, VkFence, const VkAllocationCallbacks*);
void __real_vkDestroyBuffer(VkDevice, VkBuffer, const VkAllocationCallbacks*);
void __real_vkFreeMemory(VkDevice, VkDeviceMemory, const VkAllocationCallbacks*);

VkResult __wrap_vkCreateInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                 VkInstance* made) {
    return make_or_fail([&] { return __real_vkCreateInstance(info, allocator, made); });
}
VkResult __wrap_vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                               const VkAllocationCallbacks* allocator, VkDevice* made) {
    return make_or_fail([&] { return __real_vkCreateDevice(physical, info, allocator, made); });
}
VkResult __wrap_vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                    const VkAllocationCallbacks* allocator, VkCommandPool* made) {
    return make_or_fail([&] { return __real_vkCreateCommandPool(device, info, allocator, made); });
}
VkResult __wrap_vkCreateFence(VkDevice device, const VkFenceCreateInfo* info,
                              const VkAllocationCallbacks* allocator, VkFence* made) {
    return make_or_fail([&] { return __real_vkCreateFence(device, info, allocator, made); });
}
VkResult __wrap_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo* info,
                               const VkAllocationCallbacks* allocator, VkBuffer* made) {
    return make_or_fail([&] { return __real_vkCreateBuffer(device, info, allocator, made); });
}
VkResult __wrap_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                 const VkAllocationCallbacks* allocator, VkDeviceMemory* made) {
    return make_or_fail([&] { return __real_vkAllocateMemory(device, info, allocator, made); });
}
VkResult __wrap_vkMapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                            VkMemoryMapFlags flags, void** begin) {
    return call_or_fail([&] { return __real_vkMapMemory(device, memory, offset, size, flags, begin); });
}
VkResult __wrap_vkQueueSubmit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* submits,
                              VkFence fence) {
    return call_or_fail([&] { return __real_vkQueueSubmit(queue, count, submits, fence); });
}
VkResult __wrap_vkWaitForFences(VkDevice device, std::uint32_t count, const VkFence* fences, VkBool32 all,
                                std::uint64_t timeout) {
    return call_or_fail([&] { return __real_vkWaitForFences(device, count, fences, all, timeout); });
}

void __wrap_vkDestroyInstance(VkInstance ended, const VkAllocationCallbacks* allocator) {
    --alive;
    __real_vkDestroyInstance(ended, allocator);
}
void __wrap_vkDestroyDevice(VkDevice ended, const VkAllocationCallbacks* allocator) {
    --alive;
    __real_vkDestroyDevice(ended, allocator);
}
void __wrap_vkDestroyCommandPool(VkDevice device, VkCommandPool ended,
                                 const VkAllocationCallbacks* allocator) {
    --alive;
    __real_vkDestroyCommandPool(device, ended, allocator);
}
void __wrap_vkDestroyFence(VkDevice device, VkFence ended, const VkAllocationCallbacks* allocator) {
    --alive;
    __real_vkDestroyFence(device, ended, allocator);
}
void __wrap_vkDestroyBuffer(VkDevice device, VkBuffer ended, const VkAllocationCallbacks* allocator) {
    --alive;
    __real_vkDestroyBuffer(device, ended, allocator);
}
void __wrap_vkFreeMemory(VkDevice device, VkDeviceMemory ended, const VkAllocationCallbacks* allocator) {
    --alive;
    __real_vkFreeMemory(device, ended, allocator);
}
}

namespace {

using numbers = handlepool::pool<int>;

void require(bool holds, const std::string& what) {
    if (!holds) {
        throw std::logic_error(what);
    }
}

/// Calls `work()`, and again if that fails. Returns what the first call has said.
template <class Work>
std::string try_twice(const Work& work) {
    try {
        work();
        return {};
    } catch (const std::runtime_error& error) {
        work();
        return error.what();
    }
}

/// Uploads a hundred numbers and reads them back, then two hundred. Returns the errors that were met.
std::string upload_numbers() {
    std::optional<vulkan_upload::device> device;
    std::string errors = try_twice([&] { device.emplace(); });
    numbers pool({.name = "numbers", .capacity = 1'000});
    handlepool::change_log log(pool);
    vulkan_upload::uploader buffer(*device, log, 0);
    for (int round = 0; round != 2; ++round) {
        for (int i = 0; i != 100; ++i) {
            pool.emplace(100 * round + i);
        }
        pool.compact();
        errors += try_twice([&] { buffer.upload(); });
        errors += try_twice([&] {
            const std::span<const std::byte> found = buffer.read_back();
            require(std::ranges::equal(found, std::as_bytes(pool.items())),
                    "other numbers are on the device");
        });
    }
    return errors;
}

std::vector<std::string> expected_errors() {
    std::vector<std::string> calls = {"vkCreateInstance", "vkCreateDevice", "vkCreateCommandPool",
                                      "vkCreateFence"};
    for (const int bytes : {400, 800}) {
        for (const std::string use : {"shaders", "staging", "reading back"}) {
            calls.push_back(fmt::format("vkCreateBuffer of {} bytes for {}", bytes, use));
            calls.push_back(fmt::format("vkAllocateMemory of {} bytes for {}", bytes, use));
            if (use != "shaders") {
                calls.push_back(fmt::format("vkMapMemory of {} bytes for {}", bytes, use));
            }
        }
        calls.insert(calls.end(), {"vkQueueSubmit", "vkWaitForFences"}); // of the upload
        calls.insert(calls.end(), {"vkQueueSubmit", "vkWaitForFences"}); // of what is read back
    }
    for (std::string& each : calls) {
        each += ": VK_ERROR_OUT_OF_DEVICE_MEMORY";
    }
    return calls;
}

void run() {
    std::vector<std::string> errors;
    for (int succeed = 0; errors.empty() || !errors.back().empty(); ++succeed) {
        calls_left = succeed;
        errors.push_back(upload_numbers());
        require(alive == 0, fmt::format("{} objects are alive after: {}", alive, errors.back()));
    }
    errors.pop_back(); // of the round in which nothing failed
    require(errors == expected_errors(), fmt::format("other errors:\n{}", fmt::join(errors, "\n")));
}

} // namespace

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
