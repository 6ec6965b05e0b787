// Reads T4 from a document in memory. Readers of other tuners' results convert them to such a document.
#pragma once
#include <string>

#include "search/records/formats/parts/json_text.h"
#include "search/records/formats/read.h"

namespace deplo::search::records {

/// Reads `document`. Throws Error, prefixed by `place`.
Records read_t4(Json document, const std::string& place, const Reading& reading);

}  // namespace deplo::search::records
