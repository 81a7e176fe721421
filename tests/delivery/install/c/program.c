// SPDX-License-Identifier: MIT
#include <handlepool/handlepool.h>

int main(void) {
    const handlepool_description description = {.name = "numbers", .size = sizeof(int), .capacity = 10};
    const int seven = 7;
    handlepool_pool* numbers = NULL;
    handlepool_handle handle = HANDLEPOOL_NULL;
    if (handlepool_version() != HANDLEPOOL_VERSION ||
        handlepool_pool_create(&description, &numbers) != HANDLEPOOL_OK ||
        handlepool_insert(numbers, &seven, &handle) != HANDLEPOOL_OK) {
        return 1;
    }
    const int* const found = handlepool_find(numbers, handle);
    return found != NULL && *found == seven && handlepool_pool_destroy(numbers) == HANDLEPOOL_OK ? 0 : 1;
}
