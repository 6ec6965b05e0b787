#include "search/records/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/text/text.h"
#include "search/records/formats/parts/csv.h"
#include "search/records/formats/parts/json_text.h"
#include "search/records/objective.h"

namespace deplo::search::records {
namespace {

using Form = Outline::Form;

/// Scans the first JSON value for the names of members. Does not build the value, because a cache may have gigabytes.
class MemberScan {
 public:
  MemberScan(std::string_view text, Outline& outline) : text_(text), outline_(outline) {}

  void run() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '{' || c == '[') open(c == '{');
      if ((c == '}' || c == ']') && close()) return;
      if (c == '"') take_text();
    }
  }

 private:
  void open(bool is_object) {
    ++depth_;
    if (!is_object) return;
    ++objects_;
    if (objects_ == 1) outer_ = depth_;
    if (objects_ == 2 && outer_ > 0 && inner_ == 0) inner_ = depth_;
    objects_ = std::min<std::size_t>(objects_, 2);
  }
  /// Leaves a level. Returns whether the first value has ended.
  bool close() {
    if (depth_ == inner_) is_inner_over_ = true;
    return depth_ == 0 || --depth_ == 0;
  }

  void take_text() {
    const std::size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::size_t after = text_.find_first_not_of(" \t\r\n", std::min(at_ + 1, text_.size()));
    if (at_ >= text_.size() || after == std::string_view::npos || text_[after] != ':') return;
    const std::string_view name = text_.substr(start, at_ - start);
    if (depth_ == outer_ && outline_.members.size() < limits.members) outline_.members.emplace_back(name);
    if (depth_ == inner_ && !is_inner_over_ && outline_.inner.size() < limits.members)
      outline_.inner.emplace_back(name);
  }

  std::string_view text_;
  Outline& outline_;
  std::size_t at_ = 0;
  // current level; outer_, inner_: levels of the first object and of one inside it
  std::size_t depth_ = 0, objects_ = 0, outer_ = 0, inner_ = 0;
  bool is_inner_over_ = false;
};

/// The text without blanks at its start and, before JSON, without lines that begin with #.
std::string_view without_comments(std::string_view text) {
  const auto trimmed = [](std::string_view rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    return rest;
  };
  std::string_view rest = trimmed(text);
  while (rest.starts_with('#')) rest = trimmed(rest.substr(std::min(rest.find('\n'), rest.size())));
  return rest.starts_with('{') || rest.starts_with('[') ? rest : trimmed(text);
}

/// Does the array begin with a number and another array? "[0s] …", a line of a program's log, does not.
bool is_numbered(std::string_view text) {
  std::string start;
  for (const char c : text.substr(0, 64))
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) start += c;
  const std::size_t end = std::min(start.find_first_not_of("0123456789", 1), start.size());
  return end > 1 && std::string_view(start).substr(end).starts_with(",[");
}

/// The name of the first element after declarations and comments.
std::string first_element(std::string_view text) {
  for (std::size_t at = text.find('<'); at + 1 < text.size(); at = text.find('<', at + 1)) {
    if (text[at + 1] == '?' || text[at + 1] == '!') continue;
    const std::size_t end = std::min(text.find_first_of(" \t\r\n/>", at + 1), text.size());
    return std::string(text.substr(at + 1, end - at - 1));
  }
  return "";
}

/// The wanted names that are not among the names.
std::vector<std::string> missing(const std::vector<std::string>& names, const std::vector<std::string_view>& wanted) {
  std::vector<std::string> result(wanted.begin(), wanted.end());
  std::erase_if(result, [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
  return result;
}

bool has_all(const std::vector<std::string>& names, const std::vector<std::string_view>& wanted) {
  return missing(names, wanted).empty();
}

std::size_t count_found(const std::vector<std::string>& names, const std::vector<std::string_view>& wanted) {
  return wanted.size() - missing(names, wanted).size();
}

std::string quoted(const std::vector<std::string>& names) {
  constexpr std::size_t max_named = 6;
  std::vector<std::string> texts;
  for (const std::string& name : names)
    if (texts.size() < max_named) texts.push_back(fmt::format("'{}'", name.substr(0, 40)));
  return join(texts, ", ") + (names.size() > max_named ? ", …" : "");
}

/// Whether the names are options of a kernel, with no time among them.
bool is_choice_of_triton(const std::vector<std::string>& names) {
  return has_all(names, {"num_warps"}) &&
         std::ranges::none_of(names, [](const std::string& name) { return known_direction(name).has_value(); });
}

/// Returns ", which resembles T4 (…) but has no 'results'", or "" if the outline resembles no format.
std::string resemblance(const Outline& outline) {
  const RecordFormat* nearest = nullptr;
  std::size_t max_count = 0;
  for (const RecordFormat& format : all_formats()) {
    if (format.form != outline.form) continue;
    const std::size_t count = count_found(outline.members, format.members) + count_found(outline.inner, format.inner) +
                              count_found(outline.members, format.usual);
    if (count > max_count) nearest = &format;
    max_count = std::max(max_count, count);
  }
  if (nearest == nullptr) return "";
  const std::size_t required = nearest->members.size() + nearest->inner.size();
  // One of several required names is not enough, because many files have names such as "input".
  if (max_count * 2 < required && count_found(outline.members, nearest->usual) == 0) return "";
  std::vector<std::string> lacks = missing(outline.members, nearest->members);
  std::ranges::move(missing(outline.inner, nearest->inner), std::back_inserter(lacks));
  return fmt::format(", which resembles {} ({}) but has no {}", nearest->name, nearest->about, quoted(lacks));
}

}  // namespace

std::span<const RecordFormat> all_formats() {
  static const std::vector<RecordFormat> formats = {
      {"Kernel Tuner",
       "caches of versions 1.0 to 1.5 (JSON)",
       Form::object,
       parse_json_source,
       {"cache"},
       {"tune_params_keys", "tune_params", "device_name", "kernel_name"}},
      {"Kernel Launcher",
       "wisdom files, *.wisdom (JSON lines)",
       Form::object,
       parse_wisdom,
       {"tunable_parameters", "objective"}},
      {"KTT JSON", "results", Form::object, parse_ktt_json, {"Results"}, {"Metadata", "UserData"}},
      {"KTT XML", "results", Form::xml, parse_ktt_xml, {"TuningData"}},
      {"CLBlast results",
       "results of its tuners, clblast_*.json",
       Form::object,
       parse_clblast_results,
       {"kernel_family", "results"},
       {"best_kernel", "best_time", "precision", "device_core_clock"}},
      {"CLBlast database",
       "results of all kernels and devices (JSON)",
       Form::object,
       parse_clblast_database,
       {"sections"}},
      {"CLTune", "results as JSON", Form::object, parse_clblast_results, {"results"}, {}, {"time", "parameters"}},
      {"T4",
       "results in the community's schema (JSON)",
       Form::object,
       parse_json_source,
       {"results"},
       {"schema_version", "metadata"}},
      {"AutoTVM",
       "TVM's tuning logs of versions 0.1 and 0.2 (JSON lines)",
       Form::object,
       parse_autotvm,
       {"input", "config", "result"},
       {"tvm_version"}},
      {"Ansor",
       "TVM's auto_scheduler logs, also TenSet's measure records (JSON lines)",
       Form::object,
       parse_ansor,
       {"i", "r"}},
      {"MetaSchedule", "TVM's database_tuning_record.json (JSON lines)", Form::numbered, parse_meta_schedule},
      {"Triton", "disk cache of timings, *.autotune.json", Form::object, parse_triton, {"configs_timings"}},
      {"CUTLASS",
       "tables of cutlass_profiler (CSV)",
       Form::table,
       parse_cutlass,
       {"OperationKind", "Operation", "Disposition", "Status", "Bytes", "Runtime"},
       {"Provider", "Flops", "cta_m"}},
      {"Helion log",
       "autotune logs (CSV; NAME.meta.jsonl next to NAME.csv names the kernels)",
       Form::table,
       parse_helion_log,
       {"status", "perf_ms", "config"},
       {"config_index", "generation", "compile_time_s"}},
      {"Helion metadata",
       "autotune logs with configurations, *.meta.jsonl",
       Form::object,
       parse_helion_metadata,
       {"run_id", "configs"},
       {"kernel_id", "kernel_source", "input_shapes", "hardware_info"}},
      {"Helion measurements",
       "ahead-of-time measurements_*.csv",
       Form::table,
       parse_helion_measurements,
       {"kernel_name", "config", "timing_ms"},
       {"shape_hash", "config_hash", "shape_features"}},
      {"Helion configs",
       "ahead-of-time tuned_configs_*.json",
       Form::object,
       parse_helion_configs,
       {},
       {},
       {"config", "shape_key", "timing_ms"}},
      {"Helion winners",
       "benchmarks' *_tuned_configs.json: the best of each shape with its times",
       Form::object,
       parse_helion_winners,
       {"gpu", "configs"},
       {"power_limit_w"}},
      {"cutile-rs", "trial logs of its autotuner (JSON lines)", Form::object, parse_cutile, {"config_id", "outcome"}},
      {"LOOPerSet",
       "programs of Tiramisu with schedules (JSON lines)",
       Form::object,
       parse_looperset,
       {"schedules_list"},
       {"program_name", "program_annotation", "initial_execution_time"}},
      {"LOOPerSet object",
       "the same programs in one object, keyed by program name",
       Form::object,
       parse_looperset,
       {},
       {},
       {"schedules_list"}},
      {"table", "CSV or TSV with a header: parameters, times, results", Form::table, parse_table_source},
  };
  return formats;
}

Outline outline_of(std::string_view text) {
  Outline outline;
  text = without_comments(text);
  if (text.starts_with('{') || text.starts_with('[')) {
    outline.form = text[0] == '{' ? Form::object : is_numbered(text) ? Form::numbered : Form::array;
    MemberScan(text, outline).run();
  } else if (text.starts_with('<')) {
    outline.form = Form::xml;
    outline.members = {first_element(text)};
  } else {
    constexpr std::size_t max_header = 8000;  // bytes, so that no line is too long
    static const std::string none;
    CsvLines(text.substr(0, std::min(text.find('\n'), max_header)), none).next(outline.members);
  }
  return outline;
}

const RecordFormat* find_format(const Outline& outline) {
  for (const RecordFormat& format : all_formats())
    if (format.form == outline.form && has_all(outline.members, format.members) && has_all(outline.inner, format.inner))
      return &format;
  return nullptr;
}

std::string unknown_format(const Outline& outline) {
  if (std::ranges::find(outline.members, "ConfigurationSpace") != outline.members.end())
    return "found a T1 definition, which has no results; `deplo db import --list-formats` lists the supported formats";
  if (std::ranges::find(outline.inner, "block_sizes") != outline.inner.end())
    return "found configurations of Helion without times; `deplo db import --list-formats` lists the supported formats";
  if (is_choice_of_triton(outline.members) || is_choice_of_triton(outline.inner))
    return "found chosen configurations of Triton without times, such as vLLM's and SGLang's; `deplo db import "
           "--list-formats` lists the supported formats";
  const std::string found = outline.form == Form::array ? "a JSON array"
                            : outline.form == Form::xml
                                ? fmt::format("XML with the element {}", quoted(outline.members))
                            : outline.members.empty() ? "JSON without members"
                                                      : fmt::format("JSON with {}", quoted(outline.members));
  return fmt::format("found {}{}; `deplo db import --list-formats` lists the supported formats", found,
                     resemblance(outline));
}

std::string resemblance_of_table(const std::vector<std::string>& heads) {
  const std::string resembles = resemblance({Form::table, heads, {}});
  return resembles.empty() ? "" : " in a table" + resembles;
}

}  // namespace deplo::search::records
