// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>
#if defined(__linux__)
#include <link.h>
#include <sys/auxv.h>
#endif
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

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
struct Dwfl_Callbacks {
    void* find_elf;
    void* find_debuginfo;
    void* section_address;
    char** debuginfo_path;
};

/// The functions of the library, for the modules of a process; none if it is not there.
class libdw {
public:
    explicit libdw(pid_t process) : process_(process), library_(open()) {
        if (library_ != nullptr) {
            load(begin, "dwfl_begin");
            load(report_begin, "dwfl_report_begin");
            load(report_end, "dwfl_report_end");
            load(proc_report, "dwfl_linux_proc_report");
            load(module_at, "dwfl_addrmodule");
            load(unit_at, "dwfl_module_addrdie");
            load(next_unit, "dwfl_module_nextcu");
            load(has_address, "dwarf_haspc");
            load(line_at, "dwarf_getsrc_die");
            load(line_number, "dwarf_lineno");
            load(line_file, "dwarf_linesrc");
            load(child_of, "dwarf_child");
            load(sibling_of, "dwarf_siblingof");
            load(tag_of, "dwarf_tag");
            load(attribute_of, "dwarf_attr_integrate");
            load(own_attribute_of, "dwarf_attr");
            load(string_of, "dwarf_formstring");
            load(number_of, "dwarf_formudata");
            load(files_of, "dwarf_getsrcfiles");
            load(file_name, "dwarf_filesrc");
            callbacks_.find_elf = dlsym(library_, "dwfl_linux_proc_find_elf");
            callbacks_.find_debuginfo = dlsym(library_, "dwfl_standard_find_debuginfo");
            is_whole_ = is_whole_ && callbacks_.find_elf != nullptr && callbacks_.find_debuginfo != nullptr;
        }
        program_ = library_ != nullptr && is_whole_ ? begin(&callbacks_) : nullptr;
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

    /// The module that has this address; null without debug information.
    Dwfl_Module* find_module(Dwarf_Addr address) {
        if (program_ == nullptr) {
            return nullptr;
        }
        return module_at(program_, address);
    }

    /// Looks which modules are loaded, if others are than before; in another process, once. Returns whether
    /// so.
    bool look_at_modules() {
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
        changes_seen_ = changes;
        report_begin(program_);
        proc_report(program_, process_);
        report_end(program_, nullptr, nullptr);
        return true;
    }

    Dwfl* (*begin)(const Dwfl_Callbacks*) = nullptr;
    void (*report_begin)(Dwfl*) = nullptr;
    int (*report_end)(Dwfl*, void*, void*) = nullptr;
    int (*proc_report)(Dwfl*, pid_t) = nullptr;
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

private:
    template <class Function>
    void load(Function& function, const char* name) {
        void* const found = dlsym(library_, name);
        is_whole_ = is_whole_ && found != nullptr;
        function = reinterpret_cast<Function>(found);
    }

    pid_t process_;
    void* library_;
    std::uint64_t changes_seen_ = ~std::uint64_t{0}; // of the list of modules
    bool is_whole_ = true;
    Dwfl_Callbacks callbacks_{};
    Dwfl* program_ = nullptr;
};

} // namespace handlepool::detail
