// Strict reading of YAML. Anything unexpected throws Error `file:line: expected …, found …`.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deplo {

/// One value of a YAML document, with its place. Cheap to copy. Numbers and booleans are plain scalars: `"5"` is text.
/// It has a method for each type of a value, and for a value that may be absent.
class Config {
 public:
  struct Node;

  /// Loads a file, or parses a text. `where`: the text's name in messages. The root must be a map. Duplicate keys
  /// throw.
  static Config load(const std::filesystem::path& file);
  static Config parse(std::string_view text, std::string where);

  /// Throws Error if this map has a key that is not in `known` ("did you mean …?").
  const Config& only(const std::vector<std::string_view>& known) const;
  bool has(std::string_view key) const { return find(key).has_value(); }
  std::optional<Config> find(std::string_view key) const;
  Config at(std::string_view key) const;                        // the key must exist
  std::vector<std::pair<std::string, Config>> entries() const;  // the entries of a map, in file order
  std::vector<Config> items() const;                            // the elements of a list

  bool is_map() const;
  bool is_list() const;
  bool is_text() const;
  std::string text() const;  // never empty
  std::int64_t integer(std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  double number(double min = -std::numeric_limits<double>::max(),
                double max = std::numeric_limits<double>::max()) const;
  bool boolean() const;
  std::string one_of(const std::vector<std::string>& names) const;

  /// `integer_or("seed", 0)`: the value of the key, or the default if the key is absent.
  std::string text_or(std::string_view key, std::string fallback) const;
  std::int64_t integer_or(std::string_view key, std::int64_t fallback,
                          std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                          std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  double number_or(std::string_view key, double fallback, double min = -std::numeric_limits<double>::max(),
                   double max = std::numeric_limits<double>::max()) const;
  bool boolean_or(std::string_view key, bool fallback) const;

  std::string place() const;  // file:line
  [[noreturn]] void expected(const std::string& what) const;

 private:
  struct Document;  // the file's name and its root
  Config(std::shared_ptr<const Document> document, const Node* node) : document_(std::move(document)), node_(node) {}
  std::shared_ptr<const Document> document_;
  const Node* node_;
};

}  // namespace deplo
