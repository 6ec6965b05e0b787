// Private to library/: what a Source is to the engine.
#pragma once
#include <string>

#include "deplo/deplo.h"
#include "engine/source/source.h"

namespace deplo {

/// `place` begins messages about a kernel of its own. Throws Error unless the source is exactly one of the five.
engine::Source source_of(const Source&, const std::string& place);

}  // namespace deplo
