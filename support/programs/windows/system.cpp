// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <io.h>
#include <process.h>
#include <support/programs/system.hpp>
#include <windows.h>

namespace handlepool::support {

namespace {

constexpr int standard_error = 2;

std::string machine_name() {
    SYSTEM_INFO info{};
    GetNativeSystemInfo(&info);
    switch (info.wProcessorArchitecture) {
    case PROCESSOR_ARCHITECTURE_AMD64:
        return "x86_64";
    case PROCESSOR_ARCHITECTURE_ARM64:
        return "ARM64";
    default:
        return fmt::format("processor architecture {}", info.wProcessorArchitecture);
    }
}

} // namespace

int process_id() noexcept {
    return _getpid();
}

// What GetVersionEx says depends on a manifest in the program.
std::string system_name() {
    using rtl_get_version = LONG(WINAPI*)(OSVERSIONINFOW*);
    const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    const FARPROC found = ntdll == nullptr ? nullptr : GetProcAddress(ntdll, "RtlGetVersion");
    OSVERSIONINFOW version{};
    version.dwOSVersionInfoSize = sizeof(version);
    // A function of another type, as its documentation has it.
    if (found == nullptr ||
        reinterpret_cast<rtl_get_version>(reinterpret_cast<void (*)()>(found))(&version) != 0) {
        return "unknown";
    }
    return fmt::format("Windows {}.{}.{} {}", version.dwMajorVersion, version.dwMinorVersion,
                       version.dwBuildNumber, machine_name());
}

bool errors_go_to_a_terminal() noexcept {
    const HANDLE errors = GetStdHandle(STD_ERROR_HANDLE);
    DWORD mode = 0;
    return _isatty(standard_error) != 0 && GetConsoleMode(errors, &mode) != FALSE &&
           SetConsoleMode(errors, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != FALSE;
}

std::optional<std::size_t> columns_of_errors() noexcept {
    CONSOLE_SCREEN_BUFFER_INFO screen{};
    if (GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &screen) == FALSE) {
        return {};
    }
    return static_cast<std::size_t>(screen.srWindow.Right - screen.srWindow.Left + 1);
}

void keep_standard_streams() noexcept {} // no file takes the place of one

std::FILE* open_to_write(const std::filesystem::path& path) noexcept {
    return _wfopen(path.c_str(), L"wbN");
}

bool write_through(std::FILE* file) noexcept {
    return _commit(_fileno(file)) == 0;
}

void survive_file_size_limit() noexcept {} // there is none

void restore_file_size_limit() noexcept {}

} // namespace handlepool::support
