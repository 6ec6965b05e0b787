#include "search/tables.h"

namespace deplo::search::tables {

std::shared_ptr<const Records> grid(const Options& values, const std::function<double(const Options&)>& time) {
  RecordsBuilder builder("grid");
  for (std::size_t i = 0; i < values.size(); ++i) builder.add_knob("p" + std::to_string(i));
  Options at(values.size(), 0);
  for (;;) {
    const double us = time(at);
    Record record{.outcome = {us > 0 ? Status::ok : Status::launch_error, us > 0 ? us : 0, us > 0 ? "" : "failed"},
                  .build_seconds = 1,
                  .run_seconds = us > 0 ? us : 0};
    if (us != 0) builder.add(std::vector<Value>(at.begin(), at.end()), record, {});
    std::size_t i = values.size();
    while (i > 0 && ++at[i - 1] == values[i - 1]) at[--i] = 0;
    if (i == 0) break;
  }
  return std::make_shared<const Records>(builder.finish());
}

}  // namespace deplo::search::tables
