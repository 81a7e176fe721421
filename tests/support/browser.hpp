// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::support {

/// The smaller of the two packages with the engine, or the whole browser. Throws if there is none.
std::string browser_program();

enum class colour_scheme { dark, light };

/// A browser without a screen that shows one page, of which tests ask what is there, and which they use as
/// people do. It is told what to do through pipes, by the Chrome DevTools Protocol. Throws std::runtime_error
/// when something can't be done in time.
class browser {
public:
    browser(int width, int height, colour_scheme scheme);
    browser(const browser&) = delete;
    browser& operator=(const browser&) = delete;
    ~browser();

    /// Returns when the page is loaded.
    void open(const std::string& address);
    /// Returns when the page that was opened is loaded again.
    void reload();
    void resize(int width, int height);
    /// The value of an expression in the page; of a promise, when it is kept.
    nlohmann::json value_of(const std::string& expression);
    /// Returns when an expression is true.
    void wait_for(const std::string& expression);
    /// Types a key: "m", "Enter", "ArrowRight".
    void press(const std::string& key);
    /// Clicks in the middle of the first element that a selector finds.
    void click(const std::string& selector);
    /// Bytes of a PNG file with all of the page.
    std::string picture();
    /// What the page has complained about: failed scripts, refused parts, messages of errors.
    const std::vector<std::string>& complaints() const noexcept { return complaints_; }

private:
    nlohmann::json call(const std::string& method, nlohmann::json parameters = nlohmann::json::object());
    void send(const nlohmann::json& message);
    nlohmann::json receive();
    void note(const nlohmann::json& event);

    pid_t process_ = -1;
    int to_ = -1;
    int from_ = -1;
    std::string received_;
    std::string session_;
    int calls_ = 0;
    std::string loaded_by_;
    std::vector<std::string> complaints_;
};

} // namespace handlepool::support
