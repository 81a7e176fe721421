// SPDX-License-Identifier: MIT
#include "../recorder/debug_info.hpp"

#include "../recorder/names_mutex.hpp"
#include "demangled.hpp"
#include "libdw.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::detail {

namespace {

constexpr int tag_class = 0x02;
constexpr int tag_lexical_block = 0x0b;
constexpr int tag_structure = 0x13;
constexpr int tag_inlined_subroutine = 0x1d;
constexpr int tag_subprogram = 0x2e;
constexpr int tag_namespace = 0x39;
constexpr unsigned at_name = 0x03;
constexpr unsigned at_linkage_name = 0x6e;
constexpr unsigned at_call_file = 0x58;
constexpr unsigned at_call_line = 0x59;

/// Whether a function is one of the library itself, which is not the place that somebody asks for.
bool is_of_library(std::string_view linkage_name) {
    constexpr std::string_view prefix = "_Z";
    if (!linkage_name.starts_with(prefix)) {
        return false;
    }
    linkage_name.remove_prefix(prefix.size());
    // A function within a function begins with the outer one's name, a member with its qualifiers.
    linkage_name.remove_prefix(std::min(linkage_name.find_first_not_of("ZNKVRO"), linkage_name.size()));
    return linkage_name.starts_with("10handlepool");
}

/// The same of a file, "include/handlepool/pool.hpp", where a function has no name that is unique.
bool is_header_of_library(std::string_view path) {
    constexpr std::string_view folder = "handlepool/";
    const std::size_t at = path.rfind(folder);
    return path.ends_with(".hpp") && at != path.npos && (at == 0 || path[at - 1] == '/');
}

/// A function in a source: what of it was inlined is one, too.
struct source_position {
    std::string function;
    std::string file;
    std::uint64_t line = 0;

    std::string text() const {
        const std::string name = file.substr(file.find_last_of('/') + 1);
        if (function.empty()) {
            return name.empty() ? std::string() : name + ':' + std::to_string(line);
        }
        return name.empty() ? function : function + " at " + name + ':' + std::to_string(line);
    }
};

class debug_info {
public:
    debug_info(const libdw& dw, pid_t process) : dw_(dw), modules_(dw, process) {}

    std::string name_of(std::uintptr_t address) {
        if (modules_.look()) {
            names_.clear(); // another module may have come where one was
        }
        const auto found = names_.find(address);
        return found != names_.end() ? found->second : names_.emplace(address, find(address)).first->second;
    }

private:
    std::string find(Dwarf_Addr address) {
        Dwarf_Addr bias = 0;
        Dwarf_Die* const unit = find_unit(address, bias);
        if (unit == nullptr) {
            return {};
        }
        source_position at;
        if (Dwarf_Line* const line = dw_.line_at(unit, address - bias)) {
            int number = 0;
            const char* const file = dw_.line_file(line, nullptr, nullptr);
            at.file = file != nullptr ? file : "";
            at.line = dw_.line_number(line, &number) == 0 ? static_cast<std::uint64_t>(number) : 0;
        }
        at = find_function(*unit, address - bias, std::move(at));
        return is_header_of_library(at.file) ? std::string() : at.text();
    }

    Dwarf_Die* find_unit(Dwarf_Addr address, Dwarf_Addr& bias) {
        Dwfl_Module* const module = modules_.find(address);
        if (module == nullptr) {
            return nullptr;
        }
        // Of units that list no addresses, as clang's, it may be the one before.
        if (Dwarf_Die* const listed = dw_.unit_at(module, address, &bias);
            listed != nullptr && dw_.has_address(listed, address - bias) == 1) {
            return listed;
        }
        Dwarf_Die* unit = dw_.next_unit(module, nullptr, &bias);
        while (unit != nullptr && dw_.has_address(unit, address - bias) != 1) {
            unit = dw_.next_unit(module, unit, &bias);
        }
        return unit;
    }

    /// The innermost function there that is none of the library; else the outermost one.
    source_position find_function(Dwarf_Die& unit, Dwarf_Addr address, source_position at) {
        chain_.clear();
        if (!find_chain(unit, address, false)) {
            find_chain(unit, address, true);
        }
        while (!chain_.empty()) {
            Dwarf_Die scope = chain_.back();
            chain_.pop_back();
            const char* const linkage_name = text_of(scope, at_linkage_name);
            const char* const name = text_of(scope, at_name);
            at.function = linkage_name != nullptr ? short_function_name(demangled(linkage_name))
                          : name != nullptr       ? std::string(name) + "()"
                                                  : std::string();
            const bool is_of_ours =
                linkage_name != nullptr ? is_of_library(linkage_name) : is_header_of_library(at.file);
            if (!is_of_ours || chain_.empty()) {
                break;
            }
            at.line = own_number_of(scope, at_call_line);
            at.file = file_of(unit, own_number_of(scope, at_call_file));
        }
        return at;
    }

    /// The function that has this address, and those that were inlined there, one into the other. Libdw's own
    /// search looks into no namespace. With `in_others` also within functions that don't have the address:
    /// what they define, such as lambdas.
    bool find_chain(Dwarf_Die& parent, Dwarf_Addr address, bool in_others) {
        Dwarf_Die child{};
        bool is_left = dw_.child_of(&parent, &child) == 0;
        while (is_left) {
            const int tag = dw_.tag_of(&child);
            const bool is_function = tag == tag_subprogram || tag == tag_inlined_subroutine;
            if (is_function || tag == tag_lexical_block) {
                if (dw_.has_address(&child, address) == 1) {
                    if (is_function) {
                        chain_.push_back(child);
                    }
                    find_chain(child, address, in_others);
                    return true;
                }
                if (in_others && find_chain(child, address, true)) {
                    return true;
                }
            } else if ((tag == tag_namespace || tag == tag_class || tag == tag_structure) &&
                       find_chain(child, address, in_others)) {
                return true;
            }
            is_left = dw_.sibling_of(&child, &child) == 0;
        }
        return false;
    }

    const char* text_of(Dwarf_Die& die, unsigned name) {
        Dwarf_Attribute found{};
        return dw_.attribute_of(&die, name, &found) != nullptr ? dw_.string_of(&found) : nullptr;
    }
    std::uint64_t own_number_of(Dwarf_Die& die, unsigned name) {
        Dwarf_Attribute found{};
        std::uint64_t number = 0;
        return dw_.own_attribute_of(&die, name, &found) != nullptr && dw_.number_of(&found, &number) == 0
                   ? number
                   : 0;
    }
    std::string file_of(Dwarf_Die& unit, std::uint64_t number) {
        void* files = nullptr;
        std::size_t count = 0;
        if (dw_.files_of(&unit, &files, &count) != 0 || number >= count) {
            return {};
        }
        const char* const name = dw_.file_name(files, number, nullptr, nullptr);
        return name != nullptr ? name : "";
    }

    const libdw& dw_;
    process_modules modules_;
    std::vector<Dwarf_Die> chain_; // of the latest search
    std::map<std::uintptr_t, std::string> names_;
};

} // namespace

std::string name_by_debug_info(std::uintptr_t address, int process) {
    const libdw& dw = libdw::loaded();
    const std::scoped_lock lock(names_mutex);
    static std::map<int, debug_info>* all = nullptr; // never destroyed: what runs later may ask, too
    if (all == nullptr) {
        all = new std::map<int, debug_info>;
    }
    const pid_t wanted = process == 0 ? getpid() : process;
    return all->try_emplace(wanted, dw, wanted)
        .first->second.name_of(address - 1); // of the call, behind which the address lies
}

} // namespace handlepool::detail
