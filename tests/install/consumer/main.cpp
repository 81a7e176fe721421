#include <handlepool/boost_freelist.hpp>
#include <handlepool/fmt.hpp>
#include <handlepool/pool.hpp>

#include <string>

int main() {
    handlepool::pool<std::string> names({.name = "names", .capacity = 10});
    const auto handle = names.emplace("installed, and found again");
    names.compact();
    fmt::print("{}: {}\n", handle, names.at(handle));

    handlepool::pool<int, handlepool::default_layout, handlepool::default_policy, handlepool::boost_freelist>
        numbers({.name = "numbers", .capacity = 10});
    return numbers.contains(numbers.emplace(1)) ? 0 : 1;
}
