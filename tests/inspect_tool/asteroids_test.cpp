// SPDX-License-Identifier: MIT

// The example that has a bug for everybody to find.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <support/programs/started_program.hpp>
#include <tests/support/browser.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <chrono>
#include <regex>
#include <string>
#include <thread>

namespace handlepool::test {
namespace {

TEST(asteroids_page, shows_who_erased_the_station) {
    const support::scratch_directory directory;
    const auto output = directory.path() / "output";
    support::started_program asteroids({support::paths::asteroids_program, "--entities", "200", "--threads",
                                        "1", "--frames", "2000", "--inspect"},
                                       output);
    std::string text;
    std::smatch address;
    std::smatch station;
    for (int i = 0; i != 6000 && (address.empty() || station.empty()); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        text = support::read_file(output.string());
        std::regex_search(text, address, std::regex("shown at (http://\\S+) until"));
        std::regex_search(
            text, station,
            std::regex("Frame 120: the station (0x[0-9a-f]+) is gone. Who erased my station\\?\n"));
    }
    ASSERT_FALSE(address.empty() || station.empty()) << text;
    support::browser page(1280, 900, support::colour_scheme::light);
    page.open(address[1]);
    page.wait_for("document.querySelectorAll('#pools tbody tr').length === 5");
    page.value_of("document.getElementById('handle').value = '" + station[1].str() + "'");
    page.click("#search button");
    page.wait_for("document.querySelector('.life')");
    EXPECT_THAT(page.value_of("document.querySelector('.life').innerText").get<std::string>(),
                testing::MatchesRegex(
                    "stations #0 generation 1: erased [0-9]+ frames? ago by thread \"asteroids\" in "
                    "asteroids::outpost::retire_buoys\\(\\) at outpost.hpp:[0-9]+; created [0-9]+ frames ago "
                    "by thread "
                    "\"asteroids\" in asteroids::outpost::build_station\\(\\) at outpost.hpp:[0-9]+"));
}

} // namespace
} // namespace handlepool::test
