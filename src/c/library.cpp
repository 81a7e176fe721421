// SPDX-License-Identifier: MIT
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

void handlepool_free_text(char* text) {
    std::free(text);
}

} // extern "C"
