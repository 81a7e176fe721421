// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <tests/support/paths.hpp>

#include <cctype>
#include <cstddef>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {

/// Reads the declarations of one class of a header, to know its data members. The sizes of objects would not
/// tell: a small member may lie in the padding of others. Knows the style of this project's headers, not C++.
class class_text {
public:
    explicit class_text(const std::string& header) : text_(plain(header)) {}

    /// The names of the data members that are no constants, in their order. The class is found by a regular
    /// expression for what follows `class` or `struct`.
    std::vector<std::string> members_of(const std::string& class_name) const {
        const std::regex head(R"((class|struct)(\s+HANDLEPOOL_EXPORT|\s+alignas\(\w+\))*\s+)" + class_name +
                              R"(\b[^;{()]*\{)");
        std::smatch found;
        if (!std::regex_search(text_, found, head)) {
            ADD_FAILURE() << "there is no class " << class_name;
            return {};
        }
        std::vector<std::string> names;
        const auto end_of_head = static_cast<std::size_t>(found.position() + found.length());
        for (const std::string& each : declarations_from(end_of_head)) {
            if (std::string name = member_in(each); !name.empty()) {
                names.push_back(std::move(name));
            }
        }
        return names;
    }

private:
    /// Without comments, attributes, and what is for the preprocessor.
    static std::string plain(const std::string& header) {
        return std::regex_replace(header, std::regex(R"((^|\n)#[^\n]*|//[^\n]*|\[\[[^\]]*\]\])"), "\n");
    }

    /// Splits what lies directly in the class; blocks are replaced by "{}".
    std::vector<std::string> declarations_from(std::size_t at) const {
        std::vector<std::string> all(1);
        int depth = 0;
        for (; at != text_.size() && depth >= 0; ++at) {
            const char now = text_[at];
            const bool separates_digits =
                now == '\'' && std::isalnum(static_cast<unsigned char>(text_[at - 1])) != 0;
            if ((now == '"' || now == '\'') && !separates_digits) { // a brace in a text is none
                for (++at; text_[at] != now; ++at) {
                    at += text_[at] == '\\' ? 1U : 0U;
                }
                continue;
            }
            depth += now == '{' ? 1 : now == '}' ? -1 : 0;
            if (depth != 0 || now == '}') {
                if (depth == 0) {
                    all.back() += "{}";
                    const std::size_t next = text_.find_first_not_of(" \n", at + 1);
                    if (std::string_view(";,)").find(text_[next]) == std::string_view::npos) { // a function's
                        all.emplace_back();
                    }
                }
                continue;
            }
            if (now == ';') {
                all.emplace_back();
            } else {
                all.back() += now;
            }
        }
        return all;
    }

    /// Empty for functions, types and constants.
    static std::string member_in(std::string declaration) {
        static const std::regex no_part_of_it(R"((public|protected|private):|alignas\([^)]*\))");
        static const std::regex of_no_member(R"(^\s*(using|friend|static|typedef|template|class|struct|enum|)"
                                             R"(HANDLEPOOL_ALWAYS_INLINE|requires|explicit|virtual)\b)");
        static const std::regex pointer_to_function(R"(\(\*(\w+)\)\()");
        static const std::regex last_name(R"((\w+)\s*(\{\})?\s*$)");
        declaration = std::regex_replace(declaration, no_part_of_it, "");
        std::smatch found;
        if (std::regex_search(declaration, of_no_member)) {
            return {};
        }
        if (std::regex_search(declaration, found, pointer_to_function)) {
            return found[1];
        }
        const std::string before_value = declaration.substr(0, declaration.find(" = "));
        const bool is_function = before_value.find('(') != std::string::npos;
        return !is_function && std::regex_search(before_value, found, last_name) ? found[1].str()
                                                                                 : std::string();
    }

    std::string text_;
};

/// Of a class in a header of the library.
inline std::vector<std::string> members_of(const std::string& header, const std::string& class_name) {
    return class_text(
               support::read_file(std::string(support::paths::sources) + "/include/handlepool/" + header))
        .members_of(class_name);
}

} // namespace handlepool::test
