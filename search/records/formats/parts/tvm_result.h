// What the logs of TVM's tuners have in common: targets, and the result of a trial of AutoTVM and Ansor,
// [[SECONDS, …], ERROR, SECONDS OF THE WHOLE TRIAL, TIMESTAMP].
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search/records/formats/parts/json_text.h"
#include "search/records/records.h"

namespace deplo::search::records {

struct TvmResult {
  Record record;
  std::vector<double> launches;  // µs
};

/// The launches in µs. Empty if there is none, or if one of them is not a time, such as 1e10 s.
std::vector<double> tvm_launches(const Json& seconds);
/// Parses a result. A result with no error but a time that is not above 0 is a failure, too. nullopt: it is not such a
/// list.
std::optional<TvmResult> tvm_result_of(const Json&);

/// Returns "cuda sm_90" from a target's members, and a target that is a text as it is.
std::string tvm_target_name(const Json& target);
/// Returns "1x512:float32" for the extents [1, 512] and the type "float32".
std::string tvm_tensor_text(const Json& extents, std::string_view dtype);

}  // namespace deplo::search::records
