// SPDX-License-Identifier: MIT
int made();

int main() {
    return made() - 7;
}
