// SPDX-License-Identifier: MIT
#pragma once

#include "../run_program.hpp"

#include <handlepool/redis/redis_address.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace failover {

struct options {
    handlepool::redis_address redis;
    std::string log = "failover";
    std::string name = "a server";
    unsigned lease = 200;
    unsigned rate = 60;
    std::uint64_t every = 60;
};

/// Calls `serve(options)` or `follow(options)`, as the command line says. Returns the exit code of the
/// program.
template <class Serve, class Follow>
int run_with_options(int argc, char** argv, const std::string& description, const Serve& serve,
                     const Follow& follow) {
    options chosen;
    CLI::App app(description);
    app.option_defaults()->always_capture_default();
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option("--host", chosen.redis.host, "Where Redis is");
    app.add_option("--port", chosen.redis.port, "Its port");
    app.add_option("--log", chosen.log, "The name of the log in it");
    app.add_option("--every", chosen.every, "Print each frame of so many")->check(CLI::Range(1, 1'000'000));
    CLI::App* const server =
        app.add_subcommand("serve", "Play the world, or stand by while another server does");
    server->add_option("--name", chosen.name, "How the log calls this server");
    server->add_option("--rate", chosen.rate, "Frames a second")->check(CLI::Range(1, 1'000));
    server
        ->add_option("--lease", chosen.lease,
                     "Milliseconds without a word after which another one takes over")
        ->check(CLI::Range(10, 60'000));
    const CLI::App* const follower = app.add_subcommand("follow", "Look on");
    app.footer("Examples:\n"
               "  failover serve --name first --port 6379\n"
               "  failover follow --every 1");
    return examples::run_program(app, argc, argv,
                                 [&] { follower->parsed() ? follow(chosen) : serve(chosen); });
}

} // namespace failover
