// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace handlepool::support {

/// A module that this process has loaded from a file, for as long as it runs.
class loaded_module {
public:
    explicit loaded_module(std::filesystem::path file)
        : file_(std::move(file)), module_(dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        EXPECT_NE(module_, nullptr) << dlerror();
    }

    /// An address in a function of it, as if the function began with a call of one byte.
    std::uintptr_t address_in(const char* function) const {
        return reinterpret_cast<std::uintptr_t>(dlsym(module_, function)) + 1;
    }

    /// Maps its file directly below it, as who reads the file may. Returns false if something else is there.
    bool map_file_below(const char* function) const {
        Dl_info found{};
        if (dladdr(reinterpret_cast<const void*>(address_in(function)), &found) == 0) {
            return false;
        }
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t size = (std::filesystem::file_size(file_) + page - 1) / page * page;
        const int file = open(file_.c_str(), O_RDONLY | O_CLOEXEC);
        void* const wanted = static_cast<std::byte*>(found.dli_fbase) - size;
        void* const mapped =
            mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
        close(file);
        if (mapped != MAP_FAILED && mapped != wanted) { // by a system that knows no such wish
            munmap(mapped, size);
            return false;
        }
        return mapped == wanted;
    }

private:
    std::filesystem::path file_;
    void* module_;
};

/// Loads copies of a module, "0.so" and so on in a folder, until one has its file directly below it.
inline loaded_module load_below_which_its_file_is(const std::filesystem::path& file,
                                                  const std::filesystem::path& folder, const char* function) {
    for (int i = 0;; ++i) {
        const std::filesystem::path copy = folder / (std::to_string(i) + ".so");
        std::filesystem::copy_file(file, copy);
        loaded_module loaded(copy);
        if (loaded.map_file_below(function) || i == 30) {
            EXPECT_LT(i, 30) << "there is no room below modules";
            return loaded;
        }
    }
}

} // namespace handlepool::support
