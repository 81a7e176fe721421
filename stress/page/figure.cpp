#include "figure.hpp"

#include "html.hpp"

#include <fmt/format.h>

namespace handlepool::stress::page {

std::string to_html(const figure& shown) {
    return fmt::format("<figure class=\"card\" data-chart=\"{}\">\n<figcaption><strong>{}</strong>"
                       "<span>{}</span></figcaption>\n{}{}</figure>\n",
                       shown.name, escaped(shown.title), escaped(shown.finding), shown.svg, shown.below);
}

} // namespace handlepool::stress::page
