// `deplo devices`: what can be measured on, and why other devices cannot.
#pragma once
#include <cstddef>
#include <string>

namespace deplo::apps {

/// `measure`: with the ceilings of each device, by running kernels of our own on it for about half a second. For a
/// window of that many columns; 0: no limit.
std::string devices_text(bool measure, std::size_t width);
std::string devices_json(bool measure);

}  // namespace deplo::apps
