#include "apps/run/cuda_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "ir/torch/expression/expression.h"
#include "ir/types/fill.h"
#include "measure/check/expected_values.h"
#include "measure/check/verdict.h"
#include "measure/named_source.h"
#include "measure/ptx/cuda_file.h"

namespace deplo::apps {
namespace {

using measure::HostArrays;

std::array<std::int64_t, 3> dimensions(const std::string& text, const char* flag) {
  std::array<std::int64_t, 3> result = {1, 1, 1};
  const char *at = text.data(), *const end = at + text.size();
  constexpr std::int64_t max_dimension = std::int64_t{1} << 20;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, result[i]);
    if (error != std::errc() || result[i] < 1 || result[i] > max_dimension) break;
    if (stop == end) return result;
    if (*stop != ',') break;
    at = stop + 1;
  }
  throw Error(fmt::format("{}: expected one to three extents, such as 64,2, found '{}'", flag, text));
}

/// Fills the arrays with random values: floats are uniform in (-1, 1), integers are from 0 to 99.
void fill(HostArrays& arrays, std::uint64_t seed) {
  Rng rng(seed);
  for (std::size_t i = 0; i < arrays.count(); ++i) {
    const ir::DType dtype = arrays.dtype(i);
    const ir::Fill distribution =
        ir::is_integral(dtype) ? ir::Fill{ir::Fill::Draw::integers, 0, 100} : ir::Fill{ir::Fill::Draw::uniform, -1, 1};
    ir::Numbers values(dtype, arrays.bytes(i).size() / static_cast<std::size_t>(ir::bytes(dtype)));
    for (std::size_t k = 0; k < values.size(); ++k) values.set(k, ir::draw(distribution, dtype, rng));
    arrays.write(i, values);
  }
}

bool differ(const ir::Numbers& a, const ir::Numbers& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != b[k] && !(std::isnan(a[k]) && std::isnan(b[k]))) return true;
  return false;
}

/// Returns a kernel with the arrays as buffers, for which the reference can be evaluated. Its inputs are the arrays
/// that the expression reads. Its outputs are all other arrays or, if the expression reads all of them, these arrays as
/// the launch leaves them.
ir::Program compared_kernel(const std::string& reference, const std::vector<ir::Buffer>& arrays) {
  if (reference.ends_with(".npy") || reference.ends_with(".npz"))
    throw Error(
        fmt::format("--reference: expected a PyTorch expression, such as x = torch.randn(8); 2 * x, found the file {}; "
                    "the Reference of a --space takes files (docs/kernel_files.md)",
                    reference));
  ir::Symbols elements;
  for (const ir::Buffer& array : arrays) elements[array.name] = ir::element_count(array);
  const ir::torch::Graph graph = ir::torch::parse_expression(reference, "--reference", ir::DType::f32, {}, elements);
  std::set<std::string, std::less<>> read;
  for (const ir::torch::Node& node : graph.nodes)
    if (node.kind == ir::torch::Node::Kind::input || node.kind == ir::torch::Node::Kind::parameter)
      read.insert(node.name);
  std::vector<std::string> names;
  for (const ir::Buffer& array : arrays) names.push_back(array.name);
  for (const std::string& name : read) {
    if (std::ranges::find(names, name) == names.end())
      throw Error(fmt::format("--reference: expected an array of the kernel, found '{}'; its arrays are {}", name,
                              join(names, ", ")));
  }
  const auto is_read = [&](const ir::Buffer& array) { return read.contains(array.name); };
  ir::Program kernel;
  for (const ir::Buffer& array : arrays)
    if (is_read(array)) kernel.buffers.emplace_back(array).role = ir::Role::input;
  const bool reads_all = kernel.buffers.size() == arrays.size();
  for (const ir::Buffer& array : arrays)
    if (reads_all || !is_read(array)) kernel.buffers.emplace_back(array).role = ir::Role::output;
  measure::check_expression(reference, kernel, {}, "--reference");
  return kernel;
}

/// The values that the arrays should have after the kernel.
class CudaReference {
 public:
  CudaReference(const CudaCheckOptions& options, const std::vector<ir::Buffer>& arrays,
                const std::vector<ir::Numbers>& before)
      : arrays_(arrays), tolerance_(options.tolerance) {
    const ir::Program kernel = compared_kernel(*options.reference, arrays);
    expected_ = measure::evaluate_expression(*options.reference, kernel, {}, [&](const ir::Buffer& input) {
      return before[static_cast<std::size_t>(std::ranges::find(arrays, input.name, &ir::Buffer::name) -
                                             arrays.begin())];
    });
  }

  std::vector<std::string> compared() const {
    std::vector<std::string> names;
    for (const auto& [name, values] : expected_) names.push_back(name);
    return names;
  }
  /// Describes the worst element of the first array that is wrong; "" if no array is.
  std::string fault(const std::vector<ir::Numbers>& after) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (const auto expected = expected_.find(arrays_[i].name); expected != expected_.end())
        if (std::string found = fault(arrays_[i], expected->second, after[i]); !found.empty()) return found;
    return "";
  }

 private:
  std::string fault(const ir::Buffer& array, const ir::Numbers& expected, const ir::Numbers& found) const {
    measure::Scale scale;
    for (const double x : expected) scale.add({x}, array.dtype);
    std::size_t worst = 0;
    std::int64_t wrong = 0;
    double worst_error = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const double error = measure::error_of(found[k], {expected[k]}, scale.value(), array.dtype);
      if (error <= tolerance_) continue;
      ++wrong;
      if (error > worst_error) worst = k, worst_error = error;
    }
    if (wrong == 0) return "";
    return fmt::format("wrong: expected {:.6g} at element {} of '{}', found {:.6g} ({} of {} are wrong)",
                       expected[worst], worst, array.name, found[worst], wrong, counted(expected.size(), "element"));
  }

  const std::vector<ir::Buffer>& arrays_;
  double tolerance_;
  std::map<std::string, ir::Numbers, std::less<>> expected_;
};

/// Returns the number as `significant()` does, or "nan", "inf" or "-inf".
std::string readable(double value) {
  if (std::isfinite(value)) return significant(value);
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

CudaCheckReport::Array describe(const ir::Buffer& buffer, const ir::Numbers& before, const ir::Numbers& after) {
  CudaCheckReport::Array array{.name = buffer.name, .type = std::string(ir::name(buffer.dtype)), .first = {}};
  array.elements = static_cast<std::int64_t>(after.size());
  constexpr std::size_t shown = 4;
  for (std::size_t k = 0; k < after.size(); ++k) {
    array.changed += before[k] == after[k] ? 0 : 1;
    if (k < shown) array.first.push_back(after[k]);
  }
  return array;
}

}  // namespace

CudaCheckReport check_cuda(const CudaCheckOptions& options) {
  const std::filesystem::path file = find_data(options.file);
  measure::ptx::CudaLaunch launch{.text = measure::with_file_name(read_text(file), file),
                                  .entry = options.entry,
                                  .architecture = options.target,
                                  .grid = dimensions(options.grid, "--grid"),
                                  .block = dimensions(options.threads, "--threads"),
                                  .dynamic_shared_bytes = options.shared_bytes,
                                  .arguments = measure::ptx::parse_arguments(options.arguments)};
  const std::vector<ir::Buffer>& buffers = launch.arguments.arrays;
  const measure::ptx::CudaFile kernel(launch);
  CudaCheckReport report;
  report.file = options.file;
  report.entry = kernel.entry();
  report.target = options.target;
  if (options.reference) compared_kernel(*options.reference, buffers);
  std::optional<CudaReference> reference;
  std::vector<ir::Numbers> first;
  for (std::int64_t run = 0; run < options.runs; ++run) {
    HostArrays arrays(buffers);
    fill(arrays, options.seed);
    std::vector<ir::Numbers> before, after;
    for (std::size_t i = 0; i < buffers.size(); ++i) before.push_back(arrays.read(i));
    if (run == 0 && options.reference) {
      reference.emplace(options, buffers, before);
      report.compared = reference->compared();
    }
    report.seed = options.seed + static_cast<std::uint64_t>(run);
    ++report.runs;
    try {
      const auto result = kernel.launch(arrays, report.seed);
      report.instructions += result.instructions;
      for (std::size_t i = 0; i < buffers.size(); ++i) after.push_back(arrays.read(i));
      if (reference) report.finding = reference->fault(after);
      if (run == 0 || !report.finding.empty()) report.printed = result.printed;
    } catch (const measure::ptx::Finding& finding) {
      report.finding = finding.what();
      report.printed = finding.printed();
    }
    if (!report.finding.empty()) return report;
    if (run == 0)
      for (std::size_t i = 0; i < buffers.size(); ++i)
        report.arrays.push_back(describe(buffers[i], before[i], after[i]));
    if (run == 0) first = after;
    for (std::size_t i = 0; i < buffers.size() && report.unequal.empty(); ++i)
      if (differ(first[i], after[i])) report.unequal = buffers[i].name;
  }
  return report;
}

std::string print_table(const CudaCheckReport& report) {
  std::string text = whole_lines(report.printed);
  if (!report.finding.empty())
    return text + fmt::format("{}: {}\n{} on the PTX machine of {}, seed {}\n", report.file, report.finding,
                              report.entry, report.target, report.seed);
  text += fmt::format("{} on the PTX machine of {}: nothing found in {}, {} thread instructions in total\n",
                      report.entry, report.target, counted(report.runs, "run"), report.instructions);
  for (const auto& array : report.arrays) {
    std::string first;
    for (const double x : array.first) first += " " + readable(x);
    text += fmt::format("  {}: {}: {} of {} changed; begins with{}\n", array.name, array.type, array.changed,
                        counted(array.elements, "element"), first);
  }
  if (!report.compared.empty()) text += fmt::format("  equal to the reference: {}\n", join(report.compared, ", "));
  if (!report.unequal.empty()) text += fmt::format("  {} depends on the order in which threads run\n", report.unequal);
  return text;
}

std::string print_json(const CudaCheckReport& report) {
  return Json::object({{"file", report.file},
                       {"entry", report.entry},
                       {"target", report.target},
                       {"finding", report.finding},
                       {"seed", report.seed},
                       {"runs", report.runs},
                       {"instructions", report.instructions},
                       {"printed", report.printed},
                       {"compared", Json::array(report.compared)},
                       {"depends_on_order", report.unequal},
                       {"arrays", Json::array(report.arrays,
                                              [](const CudaCheckReport::Array& a) {
                                                return Json::object({{"name", a.name},
                                                                     {"type", a.type},
                                                                     {"elements", a.elements},
                                                                     {"changed", a.changed},
                                                                     {"first", Json::array(a.first)}});
                                              })}})
      .print_lines(2);
}

}  // namespace deplo::apps
