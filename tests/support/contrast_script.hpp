// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace handlepool::support {

/// For scripts that look at a page: channels('rgb(1, 2, 3)'), the contrast(one, other) of two colours that
/// are given so, by WCAG, their luminance(), and whether an element has words of its own, own_text(element).
inline constexpr std::string_view contrast_script = R"js(
const luminance = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
  return .2126 * x + .7152 * y + .0722 * z;
};
const channels = colour => colour.match(/[\d.]+/g).map(Number);
const contrast = (one, other) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + .05) / (dark + .05);
};
const own_text = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
)js";

} // namespace handlepool::support
