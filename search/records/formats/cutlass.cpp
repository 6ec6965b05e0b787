// Tables of CUTLASS' profiler (cutlass_profiler --output=NAME.csv): a row for each kernel on each problem.
//   Problem,Provider,OperationKind,Operation,Disposition,Status,gemm_kind,m,n,k,A,…,cta_m,…,Bytes,Flops,…,Runtime,…
// https://github.com/NVIDIA/cutlass (tools/profiler/src/performance_report.cpp). Columns between Status and Bytes are
// the arguments; Runtime is in ms. The kernel's name and the arguments that distinguish kernels are knobs. The other
// arguments describe the problem, and each problem is a space.
#include <algorithm>

#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/csv_rows.h"
#include "search/records/spelling.h"

namespace deplo::search {
namespace {

bool is_knob(std::string_view head) {
  constexpr std::string_view starts[] = {"cta_", "cluster_", "warps_", "inst_", "split_k_"};
  constexpr std::string_view names[] = {"op_class",     "stages",  "iterator_algorithm",
                                        "raster_order", "use_pdl", "swizzle_size"};
  return std::ranges::any_of(starts, [&](std::string_view start) { return head.starts_with(start); }) ||
         std::ranges::find(names, head) != std::end(names);
}

/// Whether the column says which devices a kernel is for.
bool is_capability(std::string_view head) { return head == "min_cc" || head == "max_cc"; }

Record record_of(const records::CsvRows& rows) {
  const std::string disposition = rows.cell("Disposition"), status = rows.cell("Status");
  if (status != "success") return records::timed(0, Status::launch_error, status);
  if (disposition != "passed" && disposition != "not_verified")
    return records::timed(0, records::status_of_failure(disposition), disposition);
  return records::timed(rows.number("Runtime") * 1e3, Status::noop, "no time");
}

}  // namespace

std::vector<Records> records::parse_cutlass(const Source& source) {
  BySpace spaces(source);
  CsvRows rows(source.text, source.place);
  const std::vector<std::string>& heads = rows.heads();
  const auto first = static_cast<std::size_t>(std::ranges::find(heads, "Status") - heads.begin()) + 1;
  const auto last = static_cast<std::size_t>(std::ranges::find(heads, "Bytes") - heads.begin());
  while (rows.next()) {
    std::vector<Setting> settings;
    std::vector<std::string> problem;
    for (std::size_t i = first; i < last; ++i) {
      if (is_knob(heads[i]))
        settings.emplace_back(heads[i], json_of_cell(rows.cells()[i]));
      else if (!is_capability(heads[i]))
        problem.push_back(heads[i] + "=" + rows.cells()[i]);
    }
    settings.emplace_back("Operation", json_of_cell(rows.cell("Operation")));
    const std::string kind = rows.cell("OperationKind"), size = problem_size_json(problem);
    spaces.of(kind + "\n" + size, kind, "", size).add(std::move(settings), record_of(rows));
  }
  return spaces.finish(true);
}

}  // namespace deplo::search
