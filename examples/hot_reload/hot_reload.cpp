// SPDX-License-Identifier: MIT

// A game whose rules are a module that is loaded anew while the game goes on: its objects live in the pools
// of this program, and all handles stay right.

#include "../require.hpp"
#include "../run_program.hpp"
#include "game.hpp"

#include <CLI/CLI.hpp>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace hot_reload;
using examples::require;

/// A module that is loaded while this lives. Where a build replaces the file in place, load a copy of it.
class module {
public:
    explicit module(const std::string& file) : loaded_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        require(loaded_ != nullptr, "{}", loaded_ == nullptr ? dlerror() : "");
    }
    ~module() { dlclose(loaded_); }

    module(const module&) = delete;
    module& operator=(const module&) = delete;

    const game& rules() const {
        const void* const found = dlsym(loaded_, game_symbol);
        require(found != nullptr, "there is no {} in the module", game_symbol);
        return *static_cast<const game*>(found);
    }

    static bool is_loaded(const std::string& file) {
        void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
        return loaded != nullptr && dlclose(loaded) == 0;
    }

private:
    void* loaded_;
};

/// What was seen of a monster before its module went.
struct acquaintance {
    handlepool::handle<monster> who;
    std::uint64_t number;
    int health;
};

std::vector<acquaintance> remember(world& all) {
    std::vector<acquaintance> known;
    for (const auto [self, one] : all.monsters.entries()) {
        known.push_back({self, one.number, one.health});
    }
    return known;
}

void compact(world& all) {
    all.monsters.compact();
    all.sparks.compact();
}

float heat(const world& all, const game& rules) {
    const auto add = [&](float sum, const auto& each) { return sum + rules.heat_of(each.object); };
    const auto sparks = all.sparks.entries();
    return std::accumulate(sparks.begin(), sparks.end(), 0.0F, add);
}

void play(world& all, const game& rules, unsigned frames) {
    const float before = heat(all, rules);
    rules.start(all);
    for (unsigned frame = 0; frame != frames; ++frame) {
        rules.run_frame(all);
        compact(all);
    }
    fmt::print("version {}: {} monsters, {} died; {} sparks, whose heat was {} and is {}\n", rules.version,
               all.monsters.size(), all.mourned, all.sparks.size(), before, heat(all, rules));
    rules.stop(all);
    // A hook that was taken off ends in the next compaction, and its code is the module's.
    compact(all);
}

void run(const std::vector<std::string>& files, unsigned frames) {
    world all;
    std::vector<acquaintance> known;
    for (const std::string& each : files) {
        const std::string file = std::filesystem::absolute(each).string();
        {
            const module game_module(file);
            for (const acquaintance& one : known) {
                const monster* const found = all.monsters.find(one.who);
                require(found != nullptr && found->number == one.number && found->health == one.health,
                        "monster {} has not lived on", one.number);
            }
            fmt::print("{} monsters live on\n", known.size());
            play(all, game_module.rules(), frames);
        }
        require(!module::is_loaded(file), "{} is still loaded: something of it is in use", file);
        known = remember(all);
    }
    const handlepool::pool_stats stats = all.monsters.stats();
    require(stats.destroyed == all.mourned, "{} died, but the modules have seen {}", stats.destroyed,
            all.mourned);
    require(stats.alive == known.size(), "{} are alive, and {} are known", stats.alive, known.size());
    fmt::print("{} modules, and {} monsters that have outlived them\n", files.size(), known.size());
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    unsigned frames = 100;
    CLI::App app("A program that loads one module after the other, and keeps their objects");
    app.option_defaults()->always_capture_default();
    app.add_option("modules", files, "Files of modules, each as often as it is to be loaded")->required();
    app.add_option("--frames", frames, "Frames that each runs")->check(CLI::Range(1, 1000));
    app.footer("Example:\n  hot_reload game_1.so game_2.so game_1.so");
    return examples::run_program(app, argc, argv, [&] { run(files, frames); });
}
