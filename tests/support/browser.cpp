// SPDX-License-Identifier: MIT
#include "browser.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace handlepool::support {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds patience(60);

[[noreturn]] void throw_error(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::pair<int, int> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_error("pipe");
    }
    return {ends[0], ends[1]};
}

std::string decoded(std::string_view base64) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char each : base64.substr(0, base64.find('='))) {
        bits = bits << 6 | static_cast<unsigned>(digits.find(each));
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count);
        }
    }
    return bytes;
}

} // namespace

std::string browser_program() {
    for (const char* const name : {"chromium-headless-shell", "chromium"}) {
        const char* const path = std::getenv("PATH");
        std::istringstream directories(path == nullptr ? "" : path);
        for (std::string directory; std::getline(directories, directory, ':');) {
            const std::string file = directory + "/" + name;
            if (::access(file.c_str(), X_OK) == 0) {
                return file;
            }
        }
    }
    throw std::runtime_error(
        "there is no chromium-headless-shell and no chromium on PATH: install one of them, as "
        "`ci/tools/install.sh chromium` does");
}

browser::browser(int width, int height, colour_scheme scheme) {
    const std::string program = browser_program();
    const std::string profile =
        (std::filesystem::temp_directory_path() / ("handlepool_browser_" + std::to_string(::getpid())))
            .string();
    const std::string folder = "--user-data-dir=" + profile;
    std::array<const char*, 9> arguments{program.c_str(),
                                         "--headless",
                                         "--no-sandbox",
                                         "--disable-gpu",
                                         "--disable-dev-shm-usage",
                                         "--hide-scrollbars",
                                         "--remote-debugging-pipe",
                                         folder.c_str(),
                                         nullptr};
    const auto [child_reads, to] = make_pipe();
    const auto [from, child_writes] = make_pipe();
    process_ = ::fork();
    if (process_ < 0) {
        throw_error("fork");
    }
    if (process_ == 0) { // what the browser reads is its descriptor 3, and what it writes 4
        const int reads = ::fcntl(child_reads, F_DUPFD, 10);
        const int writes = ::fcntl(child_writes, F_DUPFD, 10);
        const int nowhere = ::open("/dev/null", O_RDWR);
        ::dup2(reads, 3);
        ::dup2(writes, 4);
        ::dup2(nowhere, 0);
        ::dup2(nowhere, 1);
        ::dup2(nowhere, 2);
        ::execv(program.c_str(), const_cast<char* const*>(arguments.data()));
        ::_exit(127);
    }
    ::close(child_reads);
    ::close(child_writes);
    to_ = to;
    from_ = from;
    const std::string target = call("Target.createTarget", {{"url", "about:blank"}})["targetId"];
    session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}})["sessionId"];
    for (const char* const domain : {"Page.enable", "Runtime.enable", "Log.enable"}) {
        call(domain);
    }
    call("Page.setLifecycleEventsEnabled", {{"enabled", true}});
    call("Emulation.setEmulatedMedia", {{"features",
                                         {{{"name", "prefers-color-scheme"},
                                           {"value", scheme == colour_scheme::dark ? "dark" : "light"}}}}});
    resize(width, height);
}

browser::~browser() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(to_);
    ::close(from_);
    std::error_code ignored;
    std::filesystem::remove_all(std::filesystem::temp_directory_path() /
                                    ("handlepool_browser_" + std::to_string(::getpid())),
                                ignored);
}

void browser::open(const std::string& address) {
    // The empty page of the beginning may be loaded only now: by its loader the one is known that was asked
    // for.
    const std::string loader = call("Page.navigate", {{"url", address}})["loaderId"];
    while (loaded_by_ != loader) {
        note(receive());
    }
}

void browser::reload() {
    const std::string former = loaded_by_;
    call("Page.reload");
    while (loaded_by_ == former) {
        note(receive());
    }
}

void browser::resize(int width, int height) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

json browser::value_of(const std::string& expression) {
    const json answer = call("Runtime.evaluate",
                             {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
    if (answer.contains("exceptionDetails")) {
        throw std::runtime_error(expression + ": " + answer["exceptionDetails"].dump());
    }
    return answer["result"].value("value", json());
}

void browser::wait_for(const std::string& expression) {
    const auto since = std::chrono::steady_clock::now();
    while (value_of("!!(" + expression + ")") != true) {
        if (std::chrono::steady_clock::now() - since > patience) {
            throw std::runtime_error("never true: " + expression + "; the page says " +
                                     value_of("document.body.innerText").dump());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

void browser::press(const std::string& key) {
    json parameters{{"key", key}, {"type", "keyDown"}};
    if (key.size() == 1) {
        parameters["text"] = key;
    } else if (key == "Enter") {
        parameters["text"] = "\r";
        parameters["windowsVirtualKeyCode"] = 13;
    }
    call("Input.dispatchKeyEvent", parameters);
    call("Input.dispatchKeyEvent", {{"key", key}, {"type", "keyUp"}});
}

void browser::click(const std::string& selector) {
    const json box =
        value_of("(() => { const found = document.querySelector(" + json(selector).dump() +
                 "); found.scrollIntoView({block: 'center'}); const box = found.getBoundingClientRect();"
                 " return {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()");
    for (const char* const type : {"mousePressed", "mouseReleased"}) {
        call("Input.dispatchMouseEvent",
             {{"type", type}, {"x", box["x"]}, {"y", box["y"]}, {"button", "left"}, {"clickCount", 1}});
    }
}

std::string browser::picture() {
    return decoded(
        call("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}})["data"]
            .get<std::string>());
}

json browser::call(const std::string& method, json parameters) {
    const int number = ++calls_;
    json message{{"id", number}, {"method", method}, {"params", std::move(parameters)}};
    if (!session_.empty()) {
        message["sessionId"] = session_;
    }
    send(message);
    for (;;) {
        const json received = receive();
        if (received.value("id", 0) != number) {
            note(received);
        } else if (received.contains("error")) {
            throw std::runtime_error(method + ": " + received["error"].dump());
        } else {
            return received["result"];
        }
    }
}

void browser::send(const json& message) {
    const std::string text = message.dump() + '\0';
    for (std::size_t sent = 0; sent != text.size();) {
        const ssize_t some = ::write(to_, text.data() + sent, text.size() - sent);
        if (some <= 0) {
            throw_error("the browser has ended");
        }
        sent += static_cast<std::size_t>(some);
    }
}

json browser::receive() {
    std::size_t end = received_.find('\0');
    while (end == std::string::npos) {
        pollfd waiting{.fd = from_, .events = POLLIN, .revents = 0};
        const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
        if (::poll(&waiting, 1, static_cast<int>(most)) <= 0) {
            throw std::runtime_error("the browser says nothing");
        }
        std::array<char, 65536> some{};
        const ssize_t count = ::read(from_, some.data(), some.size());
        if (count <= 0) {
            throw_error("the browser has ended");
        }
        received_.append(some.data(), static_cast<std::size_t>(count));
        end = received_.find('\0');
    }
    json message = json::parse(received_.substr(0, end));
    received_.erase(0, end + 1);
    return message;
}

void browser::note(const json& event) {
    const std::string method = event.value("method", "");
    if (method == "Page.lifecycleEvent" && event["params"]["name"] == "load") {
        loaded_by_ = event["params"]["loaderId"];
    } else if (method == "Runtime.exceptionThrown" ||
               (method == "Log.entryAdded" && event["params"]["entry"]["level"] == "error") ||
               (method == "Runtime.consoleAPICalled" && event["params"]["type"] == "error")) {
        complaints_.push_back(event["params"].dump());
    }
}

} // namespace handlepool::support
