// SPDX-License-Identifier: MIT

// The example that has a bug for everybody to find.

#include "wait_for_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/programs/started_program.hpp>
#include <tests/support/browser.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <filesystem>
#include <string>

namespace handlepool::test {
namespace {

std::string address_in(const std::filesystem::path& file) {
    return wait_for_output(file, "shown at (http://\\S+) until")[1];
}

TEST(asteroids_page, shows_who_erased_the_station) {
    const support::scratch_directory directory;
    const auto output = directory.path() / "output";
    support::started_program asteroids({support::paths::asteroids_program, "--entities", "200", "--threads",
                                        "1", "--frames", "2000", "--inspect"},
                                       output);
    const std::string station = wait_for_output(
        output, "Frame 120: the station (0x[0-9a-f]+) is gone. Who erased my station\\?\n")[1];
    support::browser page(1280, 900, support::colour_scheme::light);
    page.open(address_in(output));
    page.wait_for("document.querySelectorAll('#pools tbody tr').length === 6");
    page.value_of("document.getElementById('handle').value = '" + station + "'");
    page.click("#search button");
    page.wait_for("document.querySelector('.life')");
    EXPECT_THAT(page.value_of("document.querySelector('.life').innerText").get<std::string>(),
                testing::MatchesRegex(
                    "stations #0 generation 1: erased [0-9]+ frames? ago by thread \"asteroids\" in "
                    "asteroids::outpost::retire_buoys\\(\\) at outpost.hpp:[0-9]+; created [0-9]+ frames ago "
                    "by thread "
                    "\"asteroids\" in asteroids::outpost::build_station\\(\\) at outpost.hpp:[0-9]+"));
}

TEST(asteroids_page, shows_what_recorded_frames_have_changed) {
    const support::scratch_directory directory;
    const auto output = directory.path() / "output";
    support::started_program asteroids({support::paths::asteroids_program, "--entities", "200", "--threads",
                                        "1", "--frames", "2000", "--inspect", "--world",
                                        (directory.path() / "world").string(), "--snapshot-every", "10000"},
                                       output);
    support::browser page(390, 900, support::colour_scheme::dark);
    page.open(address_in(output));
    page.wait_for("document.querySelector('#recorded-changes table')");
    const auto text = [&page] {
        return page.value_of("document.getElementById('recorded-changes').innerText").get<std::string>();
    };
    const auto go_to = [&page](int frame) {
        page.value_of("(() => { const frame = document.getElementById('recorded-frame'); frame.value = " +
                      std::to_string(frame) + "; frame.dispatchEvent(new Event('input')); })()");
    };
    page.wait_for("Number(document.getElementById('recorded-frame').max) > 30");
    go_to(20);
    page.wait_for("/From frame 19 to frame 20: [0-9]+ "
                  "changes/.test(document.getElementById('recorded-changes').innerText)");
    EXPECT_THAT(text(), testing::HasSubstr("rocks #"));
    page.click("#recorded-on");
    page.wait_for("/From frame 20 to frame 21:/.test(document.getElementById('recorded-changes').innerText)");
    page.click("#recorded-back");
    page.click("#recorded-back");
    page.wait_for("/From frame 18 to frame 19:/.test(document.getElementById('recorded-changes').innerText)");
    page.value_of("(() => { const from = document.getElementById('recorded-from'); from.value = '10'; "
                  "from.dispatchEvent(new Event('change')); })()");
    page.wait_for("/From frame 9 to frame 19:/.test(document.getElementById('recorded-changes').innerText)");
    go_to(1); // which has all that lived when the recording began
    page.wait_for("/From frame 0 to frame 1:/.test(document.getElementById('recorded-changes').innerText)");
    EXPECT_THAT(text(), testing::ContainsRegex("whose life\\s+how it began or ended\\s+rocks #0 generation 1 "
                                               "\\(0x[0-9a-f]+\\)\\s+created by thread \"asteroids\" in "));
    EXPECT_TRUE(page.complaints().empty()) << page.complaints().front();
    EXPECT_EQ(page.value_of("document.documentElement.scrollWidth"), 390);
}

} // namespace
} // namespace handlepool::test
