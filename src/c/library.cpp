// SPDX-License-Identifier: MIT
#include <handlepool/call_site.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/handlepool.h>

#include <cstdint>
#include <cstdlib>

static_assert(HANDLEPOOL_VERSION == HANDLEPOOL_BUILT_VERSION,
              "handlepool.h has another version than CMakeLists.txt");

extern "C" {

uint32_t handlepool_version(void) {
    return HANDLEPOOL_VERSION;
}

const char* handlepool_version_text(void) {
    return HANDLEPOOL_BUILT_VERSION_TEXT;
}

handlepool_place handlepool_place_named(const char* name) {
    return name != nullptr ? handlepool::call_site::named(name).value() : HANDLEPOOL_NO_PLACE;
}

handlepool_place handlepool_set_place(handlepool_place place) {
    return handlepool::detail::exchange_site(place);
}

void handlepool_free_text(char* text) {
    std::free(text);
}

} // extern "C"
