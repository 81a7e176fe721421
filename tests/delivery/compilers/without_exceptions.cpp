// SPDX-License-Identifier: MIT
#include "require.hpp"

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/failure.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_json.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/time/change_log.hpp>
#include <handlepool/time/record_encoding.hpp>
#include <handlepool/time/world.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

// How a program ends that is built without exceptions and does what others would catch: ci/compilers.sh.
#ifdef __cpp_exceptions
#error "built with exceptions"
#endif

namespace {

using handlepool::test::require;

struct ending {
    int status = 0;
    std::string message;
};

/// Runs the action in a child.
template <class Action>
ending end_of(Action action) {
    int ends[2];
    require(pipe(ends) == 0, "pipe");
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        action();
        std::_Exit(0);
    }
    close(ends[1]);
    ending result;
    char text[1024];
    for (ssize_t size = 0; (size = read(ends[0], text, sizeof text)) > 0;) {
        result.message.append(text, static_cast<std::size_t>(size));
    }
    close(ends[0]);
    require(waitpid(child, &result.status, 0) == child, "waitpid");
    return result;
}

void write_and_leave(const char* message) noexcept {
    std::fprintf(stderr, "handler: %s", message);
    std::_Exit(7);
}

/// Without a handler the message is written, and the program aborts; a handler has the same message.
template <class Action>
void require_end(Action action, const std::string& message) {
    const ending without = end_of(action);
    require(without.message == message + "\n", without.message.c_str());
    require(WIFSIGNALED(without.status) && WTERMSIG(without.status) == SIGABRT, "abort");
    const ending with = end_of([&] {
        handlepool::set_failure_handler(write_and_leave);
        action();
    });
    require(with.message == "handler: " + message, with.message.c_str());
    require(WIFEXITED(with.status) && WEXITSTATUS(with.status) == 7, "the handler's exit");
}

void end_by_pools() {
    handlepool::pool<int> ints(
        {.name = "ints", .capacity = 1, .reuse_delay = 0, .slot_limit = 1, .pool_id = 3});
    const auto handle = ints.emplace(1);
    require_end(
        [&] { ints.emplace(2); },
        "pool 'ints' is exhausted: its capacity is 1 objects (places of erased objects come back with "
        "the next compaction)");
    require_end([&] { ints.handle_at(1); }, "pool 'ints': there is no position 1; the dense store has 0");
    require_end(
        [&] {
            const auto guard = ints.access();
            ints.compact();
        },
        "handlepool: pool 'ints': compaction was asked for by a thread that has made an access guard or "
        "spawners, which still live");
    ints.erase(handle);
    require_end([&] { ints.at(handle); }, "pool 'ints': handle #0 generation 1 pool 3 is stale: erased");
    require_end(
        [] { handlepool::pool<int>({.name = "none", .capacity = 0}); },
        "pool 'none': capacity = 0 is not allowed; allowed are 1 to 4294967294 by the handle's layout");
    require_end(
        [] { handlepool::pool<int>({.name = "second", .capacity = 1, .pool_id = 3}); },
        "pool 'second': pool_id 3 is taken by the living pool 'ints'; leave pool_id out to get a free one");
    require_end([] { handlepool::raw_pool<>({.name = "raw", .capacity = 1}, {.size = 0}); },
                "pool 'raw': size of the type is 0, and must be from 1 to 9223372036854775807");
}

void end_by_time() {
    handlepool::pool<int> ints({.name = "ints", .capacity = 1});
    const handlepool::change_log log(ints);
    require_end([&] { log.changes_since(1); },
                "change_log of pool 'ints': frame 1 has not ended; the last one that has is 0");
    require_end([] { handlepool::world().restore(3); }, "world: frame 3 is not kept; none is");
    require_end(
        [] {
            handlepool::frame_record<handlepool::handle<int>> record;
            handlepool::decode_record({}, record);
        },
        "record, byte 0: \"hp frame\" is expected");
}

void end_by_snapshots() {
    require_end([] { handlepool::detail::snapshot_blocks({}, "a.save"); },
                "snapshot 'a.save', byte 0: this is no snapshot; \"hp world\" is expected");
    require_end([] { handlepool::read_snapshot_file("/no/such/file"); },
                "/no/such/file: No such file or directory");
}

void end_by_services() {
    handlepool::service world;
    world.add<handlepool::pool<int>>("ints", {.capacity = 1});
    require_end([&] { world.add<handlepool::pool<int>>("ints", {.capacity = 1}); },
                "handlepool: the service has a pool 'ints' already");
    require_end([] { handlepool::parse_pool_limits(R"({"pools": 7})", "limits"); },
                "limits: pools: is 7, and must be an object");
    require_end([] { handlepool::service::from_json("/no/such/file"); },
                "/no/such/file: No such file or directory");
    require_end(
        [] { handlepool::parse_pool_limits("{", "limits"); },
        "limits: is not JSON: [json.exception.parse_error.101] parse error at line 1, column 2: syntax "
        "error while parsing object key - unexpected end of input; expected string literal");
}

void end_by_properties() {
    using namespace handlepool::property_literals;
    handlepool::key_table names;
    names.add({"name"});
    require_end([&] { handlepool::property_bag(names).at<float>("name"_key); },
                "property \"name\": is nothing, and a number is asked for");
    require_end(
        [&] { handlepool::property_bag(names).set("name"_key, std::string(70'000, 'x')); },
        "property \"name\": with its 70000 bytes, the bag would need 70020 bytes, and may have 65536");
    require_end(
        [] { handlepool::bag_from_json("{\"a\": null}", "sheet"); },
        "sheet:1:7: null can't be kept; allowed are objects, true, false, numbers, strings and arrays of "
        "numbers");
    require_end([] { handlepool::property_bag::from_bytes({}, "sheet"); },
                "sheet, byte 0: the header of 8 bytes is cut off");
}

} // namespace

int main() {
    end_by_pools();
    end_by_time();
    end_by_snapshots();
    end_by_services();
    end_by_properties();
}
