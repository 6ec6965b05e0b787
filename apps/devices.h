// `deplo devices`: what can be measured on, and why other devices cannot.
#pragma once
#include <string>

namespace deplo::apps {

/// `measure`: with the ceilings of each device, by running kernels of our own on it for about half a second.
std::string devices_text(bool measure);

}  // namespace deplo::apps
