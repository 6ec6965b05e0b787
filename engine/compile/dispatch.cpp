#include "engine/compile/dispatch.h"

#include <fmt/format.h>

#include <utility>

#include "core/config.h"
#include "core/hash.h"
#include "core/text/characters.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "core/trail.h"
#include "engine/compile/kernel_space.h"
#include "engine/compile/shape_distance.h"
#include "ir/canonical/canonical.h"
#include "measure/check/inputs.h"
#include "search/trails.h"

namespace deplo::engine {
namespace {

constexpr std::int64_t max_nodes = 1000;  // more nodes than any family needs
// stands for the empty trail, which Config cannot represent as text
constexpr const char* heuristic_word = "heuristic";

/// A text as pieces with numbers between them. There is one more piece than numbers. Digits in names belong to the
/// pieces.
struct NumberedText {
  std::vector<std::string> pieces{""}, numbers;
};

/// Returns the length of the number at the front of `text`: digits, optionally with a fraction and an exponent. In
/// "0..64" the number is 0.
std::size_t number_length(std::string_view text) {
  const auto digits = [&](std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
  };
  std::size_t end = digits(0);
  if (end < text.size() && text[end] == '.' && digits(end + 1) > end + 1) end = digits(end + 1);
  if (end < text.size() && text[end] == 'e') {
    const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 2 : 1;
    if (digits(end + sign) > end + sign) end = digits(end + sign);
  }
  return end;
}

NumberedText split_numbers(std::string_view text) {
  NumberedText split;
  bool in_name = false;
  while (!text.empty()) {
    if (!in_name && is_digit(text[0])) {
      const std::size_t length = number_length(text);
      split.numbers.emplace_back(text.substr(0, length));
      split.pieces.emplace_back();
      text.remove_prefix(length);
      continue;
    }
    in_name = is_word_char(text[0]);
    split.pieces.back() += text[0];
    text.remove_prefix(1);
  }
  return split;
}

std::string whole_of(const NumberedText& text) {
  std::string joined = text.pieces[0];
  for (std::size_t i = 0; i < text.numbers.size(); ++i) joined += text.numbers[i] + text.pieces[i + 1];
  return joined;
}

Json json_of(const DispatchRule::Node& node) {
  if (!node.extent) return Json::object({{"schedule", node.schedule}});
  return Json::object({{"extent", *node.extent}, {"below", node.below}, {"yes", node.yes}, {"no", node.no}});
}

/// Reads a rule. Checks that all indices are in range and that the nodes form a tree.
class RuleReader {
 public:
  explicit RuleReader(const Config& config) : config_(config) { config.only({"extents", "schedules", "nodes"}); }

  DispatchRule read() {
    for (const Config& extent : config_.at("extents").items()) rule_.extents.push_back(read_extent(extent));
    for (const Config& schedule : config_.at("schedules").items()) rule_.schedules.push_back(read_schedule(schedule));
    const std::vector<Config> nodes = config_.at("nodes").items();
    if (nodes.empty() || std::ssize(nodes) > max_nodes)
      config_.at("nodes").expected(fmt::format("a tree of 1 to {} nodes", max_nodes));
    for (const Config& node : nodes) rule_.nodes.push_back(read_node(node, std::ssize(nodes)));
    check_tree();
    return std::move(rule_);
  }

 private:
  static DispatchRule::Extent read_extent(const Config& config) {
    config.only({"name", "columns", "least", "most"});
    DispatchRule::Extent extent{config.at("name").text(), {}, config.at("least").number(), config.at("most").number()};
    for (const Config& column : config.at("columns").items())
      extent.columns.push_back(static_cast<std::size_t>(column.integer(0, 1'000'000)));
    return extent;
  }

  static std::string read_schedule(const Config& config) {
    const std::string trail = config.text();
    if (trail == heuristic_word) return "";
    parse_trail(trail);
    return trail;
  }

  DispatchRule::Node read_node(const Config& config, std::int64_t count) const {
    config.only({"schedule", "extent", "below", "yes", "no"});
    const auto index = [&](const char* key, std::int64_t min, std::int64_t size) {
      return static_cast<std::size_t>(config.at(key).integer(min, size - 1));
    };
    DispatchRule::Node node;
    if (config.has("schedule")) {
      node.schedule = index("schedule", 0, std::ssize(rule_.schedules));
      return node;
    }
    const std::int64_t next = std::ssize(rule_.nodes) + 1;  // the index of a child is larger than that of its parent
    node.extent = index("extent", 0, std::ssize(rule_.extents));
    node.below = config.at("below").number();
    node.yes = index("yes", next, count);
    node.no = index("no", next, count);
    return node;
  }

  /// Checks that each node except the root has exactly one parent.
  void check_tree() const {
    std::vector<int> parents(rule_.nodes.size());
    for (const DispatchRule::Node& node : rule_.nodes)
      if (node.extent) ++parents[node.yes], ++parents[node.no];
    for (std::size_t i = 1; i < parents.size(); ++i)
      if (parents[i] != 1) config_.at("nodes").expected("a tree");
  }

  const Config& config_;
  DispatchRule rule_;
};

std::string describe(const DispatchRule& rule, std::size_t at) {
  const DispatchRule::Node& node = rule.nodes[at];
  if (!node.extent) return schedule_letter(node.schedule);
  const std::string yes = describe(rule, node.yes);
  const bool nested = rule.nodes[node.yes].extent.has_value();
  return fmt::format("{} < {:g}: {}; otherwise {}", rule.extents[*node.extent].name, node.below,
                     nested ? fmt::format("({})", yes) : yes, describe(rule, node.no));
}

/// Adds the conditions of all leaves below node `at`. `path` is the condition of the node itself.
void add_conditions(const DispatchRule& rule, std::size_t at, const std::string& path, std::vector<std::string>& to) {
  const DispatchRule::Node& node = rule.nodes[at];
  if (!node.extent) {
    std::string& condition = to.at(node.schedule);
    condition += (condition.empty() ? "" : " or ") + path;
    return;
  }
  const std::string begin = path.empty() ? "" : path + " and ";
  const std::string& name = rule.extents[*node.extent].name;
  add_conditions(rule, node.yes, fmt::format("{}{} < {:g}", begin, name, node.below), to);
  add_conditions(rule, node.no, fmt::format("{}{} >= {:g}", begin, name, node.below), to);
}

}  // namespace

std::string ShapeForm::key() const { return digest(mask); }

ShapeForm shape_form(const ir::Program& kernel) {
  ShapeForm form;
  NumberedText text = split_numbers(print(ir::renamed(measure::without_fills(kernel)).program));
  form.mask = join(text.pieces, "#");
  for (std::string_view number : text.numbers) form.numbers.push_back(take_number(number));
  return form;
}

std::optional<NamedKernel> with_names_of(const ir::Program& kernel, const ir::Program& theirs) {
  const ir::Program bare = measure::without_fills(kernel);
  const ir::Canonical mine = ir::renamed(bare);
  NamedKernel named{bare, corresponding_buffers(mine, ir::renamed(theirs))};
  named.loop.name = theirs.name;
  for (std::size_t i = 0; i < named.arguments.size(); ++i) named.loop.buffers[i] = bare.buffers[named.arguments[i]];
  NumberedText text = split_numbers(print(theirs));
  const NumberedText sizes = split_numbers(print(named.loop));
  if (text.numbers.size() != sizes.numbers.size()) return std::nullopt;
  text.numbers = sizes.numbers;
  named.loop = ir::parse(whole_of(text));
  if (!verify(named.loop).empty() || print(ir::renamed(named.loop).program) != print(mine.program)) return std::nullopt;
  return named;
}

std::optional<std::size_t> dispatch(const DispatchRule& rule, const std::vector<double>& numbers,
                                    const std::vector<double>& family) {
  if (numbers.size() != family.size()) return std::nullopt;
  std::vector<bool> varies(numbers.size());
  for (const DispatchRule::Extent& extent : rule.extents)
    for (const std::size_t column : extent.columns) {
      if (column >= numbers.size() || numbers[column] != numbers[extent.columns.front()]) return std::nullopt;
      if (!(numbers[column] >= extent.min && numbers[column] <= extent.max)) return std::nullopt;
      varies[column] = true;
    }
  for (std::size_t column = 0; column < numbers.size(); ++column)
    if (!varies[column] && numbers[column] != family[column]) return std::nullopt;
  std::size_t at = 0;
  while (rule.nodes[at].extent) {
    const DispatchRule::Extent& extent = rule.extents[*rule.nodes[at].extent];
    if (extent.columns.empty()) return std::nullopt;
    at = numbers[extent.columns.front()] < rule.nodes[at].below ? rule.nodes[at].yes : rule.nodes[at].no;
  }
  return rule.nodes[at].schedule;
}

std::string print(const DispatchRule& rule) {
  Json extents = Json::array();
  for (const DispatchRule::Extent& one : rule.extents)
    extents.push_back(Json::object(
        {{"name", one.name}, {"columns", Json::array(one.columns)}, {"least", one.min}, {"most", one.max}}));
  Json schedules = Json::array();
  for (const std::string& trail : rule.schedules) schedules.push_back(trail.empty() ? heuristic_word : trail.c_str());
  const auto node = [](const DispatchRule::Node& one) { return json_of(one); };
  return Json::object({{"extents", extents}, {"schedules", schedules}, {"nodes", Json::array(rule.nodes, node)}})
      .print();
}

DispatchRule parse_rule(std::string_view text, const std::string& place) {
  const Config config = Config::parse(text, place);
  return RuleReader(config).read();
}

std::string describe(const DispatchRule& rule) { return describe(rule, 0); }

std::vector<std::string> conditions(const DispatchRule& rule) {
  std::vector<std::string> all(rule.schedules.size());
  add_conditions(rule, 0, "", all);
  const DispatchRule::Node& root = rule.nodes.front();
  for (std::string& condition : all)
    if (condition.empty()) condition = "never";
  if (!root.extent) all[root.schedule] = "always";
  return all;
}

std::string schedule_letter(std::size_t schedule) {
  constexpr std::size_t letters = 26;
  const std::string letter(1, static_cast<char>('A' + schedule % letters));
  return schedule < letters ? letter : letter + std::to_string(schedule / letters);
}

Compiled compile_nearest(const ir::Program& kernel, const Target& target, const std::string& trail) {
  const KernelSpace space(kernel, target);
  return space.compile(*search::replay(space, parse_trail(trail)));
}

}  // namespace deplo::engine
