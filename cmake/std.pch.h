// The precompiled header: parts of the standard library and fmt, which the files of every layer include anyway
// (cmake/layers.cmake). Each file still includes what it uses; the tidy preset builds without this header.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
