// The result of a trial of TVM's AutoTVM and Ansor: [[SECONDS, …], ERROR, SECONDS OF THE WHOLE TRIAL, TIMESTAMP].
#pragma once
#include <optional>
#include <vector>

#include "search/records/formats/json_text.h"
#include "search/records/records.h"

namespace deplo::search::records {

struct TvmResult {
  Record record;
  std::vector<double> launches;  // µs
};

/// nullopt: it is no such list, or has times that are not above 0 without an error.
std::optional<TvmResult> tvm_result_of(const Json&);

}  // namespace deplo::search::records
