// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace examples {

/// Calls `work()` once the command line is read. Returns the exit code of the program, and prints what is
/// wrong if something is.
template <class Work>
int run_program(CLI::App& app, int argc, char** argv, const Work& work) {
    try {
        app.parse(argc, argv);
        work();
        return 0;
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}

} // namespace examples
