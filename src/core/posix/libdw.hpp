// SPDX-License-Identifier: MIT
#pragma once

#include "debug_file.hpp"
#include "mapped_modules.hpp"

#include <handlepool/detail/base/throw_exception.hpp>

#include <dlfcn.h>
#if defined(__linux__)
#include <link.h>
#include <sys/auxv.h>
#endif
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

// What is used of elfutils' libdw, which is loaded when somebody asks: no program needs it to be there. Its
// binary interface has versions of its own and keeps them.
struct Dwfl;
struct Dwfl_Module;
struct Dwarf_Line;
struct Dwarf_Die {
    void* address;
    void* unit;
    void* abbreviation;
    long padding;
};
struct Dwarf_Attribute {
    unsigned code;
    unsigned form;
    unsigned char* value;
    void* unit;
};
using Dwarf_Addr = std::uint64_t;
/// Returns the number of a file that it has opened, or -1. `link` is the name that the module has for the
/// file.
using debug_file_callback = int (*)(Dwfl_Module*, void** data, const char* module_name, Dwarf_Addr base,
                                    const char* module_file, const char* link, std::uint32_t link_checksum,
                                    char** found_name);
struct Dwfl_Callbacks {
    void* find_elf;
    debug_file_callback find_debuginfo;
    void* section_address;
    char** debuginfo_path;
};

/// The functions of the library.
class libdw {
public:
    /// Returns them; the first call loads the library. It must be called without a lock, and takes none:
    /// while a module is loaded, that thread has the loader's, and what it runs then may ask for names, too.
    /// Throws std::bad_alloc.
    static const libdw& loaded() {
        static constinit std::atomic<const libdw*> first_loaded{nullptr}; // never destroyed
        // acquire: pairs with the exchange below
        const libdw* found = first_loaded.load(std::memory_order::acquire);
        if (found == nullptr) {
            auto mine = std::make_unique<const libdw>();
            if (first_loaded.compare_exchange_strong(found, mine.get(), std::memory_order::acq_rel,
                                                     std::memory_order::acquire)) {
                found = mine.release();
            }
        }
        return *found;
    }

    /// The library; null if it is not installed. A program that was linked statically has no loader, and what
    /// is loaded all the same does not work.
    static void* open() noexcept {
#if defined(__linux__)
        return getauxval(AT_BASE) != 0 ? dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL) : nullptr;
#else
        return nullptr;
#endif
    }

    libdw() {
        void* const library = open();
        if (library == nullptr) {
            return;
        }
        is_whole_ = true;
        load(library, begin, "dwfl_begin");
        load(library, report_begin, "dwfl_report_begin");
        load(library, report_end, "dwfl_report_end");
        load(library, report_module, "dwfl_report_module");
        load(library, module_at, "dwfl_addrmodule");
        load(library, unit_at, "dwfl_module_addrdie");
        load(library, next_unit, "dwfl_module_nextcu");
        load(library, has_address, "dwarf_haspc");
        load(library, line_at, "dwarf_getsrc_die");
        load(library, line_number, "dwarf_lineno");
        load(library, line_file, "dwarf_linesrc");
        load(library, child_of, "dwarf_child");
        load(library, sibling_of, "dwarf_siblingof");
        load(library, tag_of, "dwarf_tag");
        load(library, attribute_of, "dwarf_attr_integrate");
        load(library, own_attribute_of, "dwarf_attr");
        load(library, string_of, "dwarf_formstring");
        load(library, number_of, "dwarf_formudata");
        load(library, files_of, "dwarf_getsrcfiles");
        load(library, file_name, "dwarf_filesrc");
        load(library, find_elf, "dwfl_linux_proc_find_elf");
        load(library, build_id_of, "dwfl_module_build_id");
    }

    /// Whether they are all there.
    bool is_whole() const noexcept { return is_whole_; }

    Dwfl* (*begin)(const Dwfl_Callbacks*) = nullptr;
    void (*report_begin)(Dwfl*) = nullptr;
    int (*report_end)(Dwfl*, void*, void*) = nullptr;
    Dwfl_Module* (*report_module)(Dwfl*, const char* path, Dwarf_Addr first, Dwarf_Addr last) = nullptr;
    Dwfl_Module* (*module_at)(Dwfl*, Dwarf_Addr) = nullptr;
    Dwarf_Die* (*unit_at)(Dwfl_Module*, Dwarf_Addr, Dwarf_Addr* bias) = nullptr;
    Dwarf_Die* (*next_unit)(Dwfl_Module*, Dwarf_Die* last, Dwarf_Addr* bias) = nullptr;
    int (*has_address)(Dwarf_Die*, Dwarf_Addr) = nullptr;
    Dwarf_Line* (*line_at)(Dwarf_Die* unit, Dwarf_Addr) = nullptr;
    int (*line_number)(Dwarf_Line*, int*) = nullptr;
    const char* (*line_file)(Dwarf_Line*, std::uint64_t*, std::uint64_t*) = nullptr;
    int (*child_of)(Dwarf_Die*, Dwarf_Die* child) = nullptr;
    int (*sibling_of)(Dwarf_Die*, Dwarf_Die* sibling) = nullptr;
    int (*tag_of)(Dwarf_Die*) = nullptr;
    Dwarf_Attribute* (*attribute_of)(Dwarf_Die*, unsigned, Dwarf_Attribute*) = nullptr;
    Dwarf_Attribute* (*own_attribute_of)(Dwarf_Die*, unsigned, Dwarf_Attribute*) = nullptr;
    const char* (*string_of)(Dwarf_Attribute*) = nullptr;
    int (*number_of)(Dwarf_Attribute*, std::uint64_t*) = nullptr;
    int (*files_of)(Dwarf_Die* unit, void** files, std::size_t* count) = nullptr;
    const char* (*file_name)(void* files, std::size_t, std::uint64_t*, std::uint64_t*) = nullptr;
    void* find_elf = nullptr;
    int (*build_id_of)(Dwfl_Module*, const unsigned char** bytes, Dwarf_Addr*) = nullptr;

private:
    template <class Function>
    void load(void* library, Function& function, const char* name) {
        void* const found = dlsym(library, name);
        is_whole_ = is_whole_ && found != nullptr;
        function = reinterpret_cast<Function>(found);
    }

    bool is_whole_ = false;
};

/// The modules of a process; none without the library. One thread at a time.
class process_modules {
public:
    process_modules(const libdw& dw, pid_t process)
        : dw_(dw),
          callbacks_{dw.find_elf, find_local_debug_file, nullptr, nullptr},
          process_(process),
          program_(dw.is_whole() ? dw.begin(&callbacks_) : nullptr) {}
    process_modules(const process_modules&) = delete; // the library keeps the address of the callbacks
    process_modules& operator=(const process_modules&) = delete;

    /// The module that has this address; null without debug information.
    Dwfl_Module* find(Dwarf_Addr address) {
        return program_ != nullptr ? dw_.module_at(program_, address) : nullptr;
    }

    /// Looks which modules are loaded, if others are than before; in another process, once. Returns whether
    /// so.
    bool look() {
        std::uint64_t changes = 0;
#if defined(__linux__)
        static_cast<void>(process_ == getpid() && dl_iterate_phdr(
                                                      [](dl_phdr_info* any, std::size_t, void* sum) {
                                                          *static_cast<std::uint64_t*>(sum) =
                                                              any->dlpi_adds + any->dlpi_subs;
                                                          return 1;
                                                      },
                                                      &changes));
#endif
        if (program_ == nullptr || changes == changes_seen_) {
            return false;
        }
        std::ifstream lines("/proc/" + std::to_string(process_) + "/maps");
        const std::vector<mapped_module> modules = mapped_modules(lines);
        changes_seen_ = changes;
        dw_.report_begin(program_);
        for (const mapped_module& each : modules) {
            if (each.is_executable()) {
                dw_.report_module(program_, each.path.c_str(), each.parts.front().first,
                                  each.parts.back().last);
            }
        }
        dw_.report_end(program_, nullptr, nullptr);
        return true;
    }

private:
    /// The library's own search ends at servers (debuginfod), for which it loads a library: that would wait
    /// for the loader, which may be waiting for us.
    static int find_local_debug_file(Dwfl_Module* module, void**, const char*, Dwarf_Addr,
                                     const char* module_file, const char* link, std::uint32_t link_checksum,
                                     char** found_name) {
        int found = -1;
#if defined(__linux__)
        const bool has_link = link != nullptr && *link != '\0';
        if (module_file == nullptr || (has_link && link_checksum == 0)) {
            return found; // what several debug files share has no checksum, and is found by the library
        }
        // Without memory it is not found: no exception goes through the library.
        static_cast<void>(capture_exception([&] {
            const unsigned char* id = nullptr;
            Dwarf_Addr id_at = 0;
            const int id_size = libdw::loaded().build_id_of(module, &id, &id_at);
            sought_debug_file sought{module_file, has_link ? link : "", link_checksum, {}};
            if (id_size > 0) {
                sought.build_id.assign(id, id + id_size);
            }
            std::filesystem::path path;
            open_file file = find_debug_file(sought, path);
            if (file.is_open()) {
                *found_name = strdup(path.c_str()); // the library frees it
                found = file.release();
            }
        }));
#else
        static_cast<void>(module);
#endif
        return found;
    }

    const libdw& dw_;
    Dwfl_Callbacks callbacks_;
    pid_t process_;
    std::uint64_t changes_seen_ = ~std::uint64_t{0}; // of the list of modules
    Dwfl* program_;
};

} // namespace handlepool::detail
