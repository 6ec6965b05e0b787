// Private to library/: converts the library's Source to the engine's.
#pragma once
#include <string>

#include "deplo/deplo.h"
#include "engine/source/source.h"

namespace deplo {

/// `place` is the prefix of messages about a Loop IR kernel (Source::kernel). Throws Error unless the source sets
/// exactly one of the six kinds, and only options of that kind.
engine::Source source_of(const Source&, const std::string& place);

}  // namespace deplo
