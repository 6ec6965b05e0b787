#include "core/config.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/error.h"
#include "core/file.h"
#include "core/mapped.h"
#include "core/text/nearest.h"
#include "core/text/number.h"
#include "core/text/text.h"

namespace deplo {

enum class Kind { nothing, scalar, list, map };

struct Config::Node {
  Kind kind = Kind::nothing;
  std::string scalar;
  bool quoted = false;
  int line = 1;  // for a value in a map: the line of its key
  std::vector<Node> children;
  std::vector<std::string> names;  // the keys of a map, one per child
};

struct Config::Document {
  std::string name;
  Node root;
};

namespace {

constexpr std::size_t max_depth = 32;  // far beyond any sensible experiment

// Builds the tree from yaml-cpp's events. (The tree of yaml-cpp forgets the lines of keys, and YAML::LoadAll never ends
// on some broken texts, on which its parser makes no progress.)
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string_view file) : file_(file) {}
  Config::Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(mark, "one YAML document, found another after it");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(mark, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, "a value, found a reference (*…)"); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    Level* const map = !open_.empty() && open_.back().node->kind == Kind::map ? &open_.back() : nullptr;
    if (map && !map->key)
      add_key(mark, value, *map);
    else
      add(mark, {Kind::scalar, value, tag == "!", 0, {}, {}});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, Kind::map);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Level {
    Config::Node* node;  // stays valid: the parent gets no other child before this node is closed
    std::optional<std::string> key;
    int key_line = 0;
  };

  void add_key(const YAML::Mark& mark, const std::string& key, Level& map) {
    for (const std::string& name : map.node->names)
      if (name == key) fail(mark, fmt::format("each key once, found '{}' twice", key));
    map.key = key;
    map.key_line = mark.line + 1;
  }

  Config::Node& add(const YAML::Mark& mark, Config::Node node) {
    if (open_.empty()) {
      node.line = mark.line + 1;
      return root_ = std::move(node);
    }
    Level& parent = open_.back();
    const bool in_map = parent.node->kind == Kind::map;
    if (in_map && !parent.key) fail(mark, "a word as the key, found something else");
    node.line = in_map ? parent.key_line : mark.line + 1;
    if (in_map) parent.node->names.push_back(*parent.key);
    parent.node->children.push_back(std::move(node));
    parent.key.reset();
    return parent.node->children.back();
  }

  void open(const YAML::Mark& mark, Kind kind) {
    if (open_.size() == max_depth) fail(mark, fmt::format("a depth of at most {}", max_depth));
    open_.push_back({&add(mark, {kind, {}, false, 1, {}, {}}), std::nullopt});
  }

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    throw Error(fmt::format("{}:{}: expected {}", file_, mark.line + 1, what));
  }

  std::string_view file_;
  Config::Node root_;
  std::vector<Level> open_;
  int documents_ = 0;
};

Config::Node build(std::string_view text, std::string_view file) {
  std::istringstream stream{std::string(text)};
  Builder builder(file);
  try {
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& e) {
    // The usual cause is an expression such as `{X: sizes[0] / 2}`.
    const char* const advice = e.msg.find("flow") == std::string::npos
                                   ? ""
                                   : "; inside [ ] and { }, a text that contains brackets or commas needs quotes";
    throw Error(fmt::format("{}:{}: expected YAML, found an error: {}{}", file, e.mark.is_null() ? 1 : e.mark.line + 1,
                            e.msg, advice));
  }
  return builder.take();
}

std::string shortened(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, 40)) line += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  return text.size() > 40 ? line + "…" : line;
}

std::string describe(const Config::Node& node) {
  switch (node.kind) {
    case Kind::nothing:
      return "nothing";
    case Kind::scalar:
      return node.quoted ? "text \"" + shortened(node.scalar) + "\"" : "'" + shortened(node.scalar) + "'";
    case Kind::list:
      return node.children.empty() ? "an empty list" : "a list";
    case Kind::map:
      return node.children.empty() ? "an empty map" : "a map";
  }
  return "";
}

// Returns "an integer", "an integer of at least 1" or "a number between 0 and 5", for example.
template <class Number>
std::string in_range(std::string_view what, Number min, Number max) {
  const bool low = min != std::numeric_limits<Number>::lowest(), high = max != std::numeric_limits<Number>::max();
  if (low && high) return fmt::format("{} between {} and {}", what, min, max);
  if (low) return fmt::format("{} of at least {}", what, min);
  return high ? fmt::format("{} of at most {}", what, max) : std::string(what);
}

}  // namespace

Config Config::load(const std::filesystem::path& file) { return parse(read_file(file), file.string()); }

Config Config::parse(std::string_view text, std::string where) {
  auto document = std::make_shared<Document>();
  document->root = build(text, where);
  document->name = std::move(where);
  const Node* root = &document->root;
  Config config(std::move(document), root);
  if (root->kind != Kind::map) config.expected("a map (key: value)");
  return config;
}

const Config& Config::only(const std::vector<std::string_view>& known) const {
  if (node_->kind != Kind::map) expected("a map (key: value)");
  for (std::size_t i = 0; i < node_->names.size(); ++i) {
    const std::string& key = node_->names[i];
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    throw Error(fmt::format("{}:{}: expected one of {}, found the key '{}'{}", document_->name, node_->children[i].line,
                            join(names, ", "), shortened(key), did_you_mean(key, names)));
  }
  return *this;
}

std::optional<Config> Config::find(std::string_view key) const {
  if (node_->kind != Kind::map) expected("a map (key: value)");
  for (std::size_t i = 0; i < node_->names.size(); ++i)
    if (node_->names[i] == key) return Config(document_, &node_->children[i]);
  return std::nullopt;
}

Config Config::at(std::string_view key) const {
  if (auto child = find(key)) return *child;
  throw Error(fmt::format("{}: expected the key '{}', found a map without it", place(), key));
}

std::vector<std::pair<std::string, Config>> Config::entries() const {
  if (node_->kind != Kind::map) expected("a map (key: value)");
  std::vector<std::pair<std::string, Config>> result;
  for (std::size_t i = 0; i < node_->names.size(); ++i)
    result.emplace_back(node_->names[i], Config(document_, &node_->children[i]));
  return result;
}

std::vector<Config> Config::items() const {
  if (node_->kind != Kind::list) expected("a list");
  return mapped(node_->children, [&](const Node& child) { return Config(document_, &child); });
}

bool Config::is_map() const { return node_->kind == Kind::map; }
bool Config::is_list() const { return node_->kind == Kind::list; }
bool Config::is_text() const { return node_->kind == Kind::scalar && !node_->scalar.empty(); }

std::string Config::text() const {
  if (node_->kind != Kind::scalar || node_->scalar.empty()) expected("text");
  return node_->scalar;
}

std::int64_t Config::integer(std::int64_t min, std::int64_t max) const {
  const auto value = parse_number<std::int64_t>(node_->scalar);
  if (node_->kind != Kind::scalar || node_->quoted || !value || *value < min || *value > max)
    expected(in_range("an integer", min, max));
  return *value;
}

double Config::number(double min, double max) const {
  const auto value = parse_number<double>(node_->scalar);
  if (node_->kind != Kind::scalar || node_->quoted || !value || !std::isfinite(*value) || *value < min || *value > max)
    expected(in_range("a number", min, max));
  return *value;
}

bool Config::boolean() const {
  if (node_->kind == Kind::scalar && !node_->quoted) {
    if (node_->scalar == "true") return true;
    if (node_->scalar == "false") return false;
  }
  expected("true or false");
}

std::string Config::one_of(const std::vector<std::string>& names) const {
  const bool known = node_->kind == Kind::scalar && std::find(names.begin(), names.end(), node_->scalar) != names.end();
  if (!known) expected(fmt::format("one of {}", join(names, ", ")));
  return node_->scalar;
}

std::string Config::text_or(std::string_view key, std::string fallback) const {
  const auto value = find(key);
  return value ? value->text() : std::move(fallback);
}

std::int64_t Config::integer_or(std::string_view key, std::int64_t fallback, std::int64_t min, std::int64_t max) const {
  const auto value = find(key);
  return value ? value->integer(min, max) : fallback;
}

double Config::number_or(std::string_view key, double fallback, double min, double max) const {
  const auto value = find(key);
  return value ? value->number(min, max) : fallback;
}

bool Config::boolean_or(std::string_view key, bool fallback) const {
  const auto value = find(key);
  return value ? value->boolean() : fallback;
}

std::string Config::place() const { return fmt::format("{}:{}", document_->name, node_->line); }

void Config::expected(const std::string& what) const {
  throw Error(fmt::format("{}: expected {}, found {}", place(), what, describe(*node_)));
}

}  // namespace deplo
