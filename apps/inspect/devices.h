// `deplo devices`: lists the usable devices, and why other devices cannot be used.
#pragma once
#include <cstddef>
#include <string>

namespace deplo::apps {

/// Both functions return the list. `measure`: also measure the ceilings of each device, with deplo's own kernels, for
/// about half a second. `width`: the window's width in columns; 0: no limit.
std::string devices_text(bool measure, std::size_t width);
std::string devices_json(bool measure);

}  // namespace deplo::apps
