#include "recorder.hpp"

#include "../oracle/clock.hpp"
#include "../trace_file.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <support/run_program.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace handlepool::stress {

namespace {

namespace process = boost::process;

constexpr std::string_view library_name = "libhandlepool_record.so";

std::string message_of(int error) {
    return std::generic_category().message(error);
}

// The raw log: a file beside the output that has no name as soon as it is open, so that nothing is left
// behind whatever happens.
class raw_log_file {
public:
    raw_log_file(const std::filesystem::path& output, std::uint64_t capacity)
        : bytes_(raw_log::bytes_for(capacity)) {
        std::string name = output.string() + ".raw.XXXXXX";
        descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
        if (descriptor_ < 0) {
            throw record_error(fmt::format("cannot write {}: {}", output.string(), message_of(errno)));
        }
        ::unlink(name.c_str());
        if (::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) {
            fail(output, errno);
        }
        void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
        if (mapped == MAP_FAILED) {
            fail(output, errno);
        }
        header_ = new (mapped) raw_log::header{};
        header_->magic = raw_log::magic;
        header_->capacity = capacity;
    }
    raw_log_file(const raw_log_file&) = delete;
    raw_log_file& operator=(const raw_log_file&) = delete;
    ~raw_log_file() {
        ::munmap(header_, bytes_);
        ::close(descriptor_);
    }

    int descriptor() const noexcept { return descriptor_; }
    const raw_log::header& header() const noexcept { return *header_; }

    bool is_full() const noexcept {
        return header_->next.load(std::memory_order_relaxed) >= header_->capacity;
    }

    std::span<const raw_log::event> events() const noexcept {
        const std::uint64_t count =
            std::min(header_->next.load(std::memory_order_relaxed), header_->capacity);
        return {reinterpret_cast<const raw_log::event*>(header_ + 1), count};
    }

private:
    [[noreturn]] void fail(const std::filesystem::path& output, int error) {
        ::close(descriptor_);
        throw record_error(fmt::format("no {} bytes of disk space for the events beside {}: {}", bytes_,
                                       output.string(), message_of(error)));
    }

    std::size_t bytes_;
    int descriptor_;
    raw_log::header* header_{};
};

// The library by a path that LD_PRELOAD takes: its own, or that of a link to one with a space or a colon in
// its path.
class preloaded_library {
public:
    explicit preloaded_library(const std::filesystem::path& library) : path_(library) {
        if (!separates(library)) {
            return;
        }
        const std::filesystem::path place = std::filesystem::temp_directory_path();
        directory_ = (place / "handlepool_record_XXXXXX").string();
        if (separates(place) || ::mkdtemp(directory_.data()) == nullptr) {
            directory_.clear();
            throw record_error(
                fmt::format("the recording library {} cannot be loaded: LD_PRELOAD allows no spaces and "
                            "colons in its path, and no link to it can be made in {}",
                            library.string(), place.string()));
        }
        path_ = std::filesystem::path(directory_) / library_name;
        std::filesystem::create_symlink(library, path_);
    }
    preloaded_library(const preloaded_library&) = delete;
    preloaded_library& operator=(const preloaded_library&) = delete;
    ~preloaded_library() {
        std::error_code ignored; // there is nobody left to tell
        if (!directory_.empty()) {
            std::filesystem::remove_all(directory_, ignored);
        }
    }

    const std::filesystem::path& path() const noexcept { return path_; }

private:
    static bool separates(const std::filesystem::path& path) {
        return path.string().find_first_of(": ") != std::string::npos;
    }

    std::filesystem::path path_;
    std::string directory_{}; // of the link; empty: none
};

// While it lives, SIGINT and SIGQUIT don't end this process.
class keyboard_signals_ignored {
public:
    keyboard_signals_ignored() {
        struct sigaction ignore{};
        ignore.sa_handler = SIG_IGN;
        ::sigaction(SIGINT, &ignore, &interrupt_);
        ::sigaction(SIGQUIT, &ignore, &quit_);
    }
    keyboard_signals_ignored(const keyboard_signals_ignored&) = delete;
    keyboard_signals_ignored& operator=(const keyboard_signals_ignored&) = delete;
    ~keyboard_signals_ignored() {
        ::sigaction(SIGINT, &interrupt_, nullptr);
        ::sigaction(SIGQUIT, &quit_, nullptr);
    }

private:
    struct sigaction interrupt_{};
    struct sigaction quit_{};
};

// Runs the program to its end and returns its status as waitpid does.
int run(const std::vector<std::string>& command, const std::filesystem::path& library, int log) {
    const keyboard_signals_ignored ignored;
    process::environment variables = boost::this_process::environment();
    const std::string others = variables["LD_PRELOAD"].to_string();
    variables["LD_PRELOAD"] = others.empty() ? library.string() : library.string() + ":" + others;
    variables[raw_log::descriptor_variable] = std::to_string(log);
    try {
        process::child program(
            process::exe = support::find_program(command.front()),
            process::args = std::vector(command.begin() + 1, command.end()), process::env = variables,
            process::extend::on_exec_setup = [log](const auto&) {
                ::fcntl(log, F_SETFD, 0); // the program inherits it
                ::signal(SIGINT, SIG_DFL);
                ::signal(SIGQUIT, SIG_DFL);
            });
        program.wait();
        return program.native_exit_code();
    } catch (const std::system_error& error) {
        throw record_error(fmt::format("cannot run {}: {}", command.front(), error.code().message()));
    }
}

void check_options(const record_options& options) {
    if (options.command.empty() || options.command.front().empty()) {
        throw record_error("no program to record");
    }
    const std::uint64_t most = trace_limits{}.events;
    if (options.event_limit == 0 || options.event_limit > most) {
        throw record_error(
            fmt::format("the event limit is {} (allowed: 1 to {})", options.event_limit, most));
    }
    try { // as it will be written
        encode_trace(
            {.header = {.command = options.command, .time_resolution_ns = options.time_resolution_ns},
             .events = {}},
            options.output.string());
    } catch (const trace_error& error) {
        throw record_error(error.what());
    }
    // The trace takes the place of what is there: of /dev/null too.
    std::error_code ignored; // what can't be looked at can't be written either
    const std::filesystem::file_status output = std::filesystem::status(options.output, ignored);
    if (std::filesystem::is_directory(output)) {
        throw record_error(fmt::format("cannot write {}: it is a directory", options.output.string()));
    }
    if (std::filesystem::exists(output) && !std::filesystem::is_regular_file(output)) {
        throw record_error(fmt::format("cannot write {}: it is no regular file", options.output.string()));
    }
}

std::filesystem::path checked_library(const record_options& options) {
    std::error_code error;
    const std::filesystem::path library =
        std::filesystem::absolute(options.library ? *options.library : find_record_library());
    if (!std::filesystem::is_regular_file(library, error)) {
        throw record_error(fmt::format("the recording library {} does not exist", library.string()));
    }
    return library;
}

void check_recorded(const raw_log_file& log, const std::string& program) {
    if (const int error = log.header().error.load(std::memory_order_relaxed)) {
        throw record_error(
            fmt::format("{} was not recorded: it cannot map the log: {}", program, message_of(error)));
    }
    if (log.header().owner.load(std::memory_order_relaxed) == 0) {
        throw record_error(fmt::format("{} was not recorded: it did not load the recording library (is it "
                                       "statically linked, or set-user-ID?)",
                                       program));
    }
    if (log.events().empty()) {
        throw record_error(fmt::format("{} was recorded, but it allocated nothing with malloc (has it an "
                                       "allocator of its own?)",
                                       program));
    }
}

} // namespace

std::filesystem::path find_record_library() {
    const std::filesystem::path directory = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::array places{directory / library_name, directory / HANDLEPOOL_RECORD_DIRECTORY / library_name};
    std::string searched;
    for (const std::filesystem::path& place : places) {
        if (std::error_code error; std::filesystem::is_regular_file(place, error)) {
            return std::filesystem::weakly_canonical(place);
        }
        searched += "\n  " + place.lexically_normal().string();
    }
    throw record_error("the recording library was not found; searched:" + searched);
}

record_result record(const record_options& options) {
    check_options(options);
    const preloaded_library library(checked_library(options));
    const raw_log_file log(options.output, options.event_limit);
    const int status = run(options.command, library.path(), log.descriptor());
    const auto exit_ns = static_cast<std::uint64_t>(now());
    check_recorded(log, options.command.front());
    const std::uint64_t end_ns = log.is_full() ? log.events().back().time_ns : exit_ns;

    trace recorded = convert(log.events(), log.header().start_ns, end_ns, options);
    recorded.header.command = options.command;
    recorded.header.truncated = recorded.header.truncated || log.is_full();
    write_trace(options.output, recorded);

    record_result result{.summary = summarize(recorded),
                         .dropped_frees = recorded.header.dropped_frees,
                         .inferred_frees = recorded.header.inferred_frees,
                         .truncated = recorded.header.truncated};
    if (WIFEXITED(status)) {
        result.exit_status = WEXITSTATUS(status);
    } else {
        result.signal = WTERMSIG(status);
    }
    return result;
}

} // namespace handlepool::stress
