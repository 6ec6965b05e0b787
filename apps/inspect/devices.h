// `deplo devices`: lists the usable devices, and why other devices cannot be used.
#pragma once
#include <cstddef>
#include <string>

namespace deplo::apps {

/// `measure`: also measure the ceilings of each device, with deplo's own kernels, for about half a second. `width`: of
/// the window, in columns; 0: no limit.
std::string devices_text(bool measure, std::size_t width);
std::string devices_json(bool measure);

}  // namespace deplo::apps
