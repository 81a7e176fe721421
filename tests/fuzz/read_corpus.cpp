// Gives all files of a folder to a fuzz target, instead of libFuzzer.

#include <support/files/read_file.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) try {
    std::size_t read = 0;
    for (int i = 1; i < count; ++i) {
        for (const auto& file : std::filesystem::directory_iterator(arguments[i])) {
            const std::string bytes = handlepool::support::read_file(file.path());
            std::fprintf(stderr, "%s\n", file.path().c_str());
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
            ++read;
        }
    }
    std::printf("%zu files\n", read);
    return read != 0 ? 0 : 1; // a corpus that is not found shows nothing
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
