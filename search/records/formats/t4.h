// Results in T4 as a document in memory, to which the results of other tuners are converted.
#pragma once
#include <string>

#include "search/records/formats/parts/json_text.h"
#include "search/records/formats/read.h"

namespace deplo::search::records {

/// Reads `document`. Throws Error, prefixed by `place`.
Records read_t4(Json document, const std::string& place, const Reading& reading);

}  // namespace deplo::search::records
