// Options of a source besides its origin: the type of its floats, and how it is cut into kernels. The command line's
// flags, the keys of experiments and the text of stored experiments are all generated from one list.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/trail.h"
#include "ir/types/dtype.h"

namespace deplo::engine {

/// nullopt: not set.
struct SourceOptions {
  std::optional<ir::DType> dtype = {};  // of floats for which the source names no type
  std::optional<bool> allow_tf32 = {};  // in kernels that multiply f32 (ir/program.h)
  Trail fixed = {};  // decisions about the kernels that are fixed, by their kinds; the value "auto": that one is not
  bool operator==(const SourceOptions&) const = default;
};

/// The kind of a source, which decides the options that it takes.
enum class SourceKind : std::uint8_t { expression, file, pt2, model, kernel, tile, space };
std::string_view name(SourceKind);

struct SourceOption {
  std::string_view name;   // the key in an experiment; the flag has dashes instead of underscores
  std::string_view words;  // the flag's argument: "f32|f16|bf16"; "": a switch, true or false in an experiment
  std::string_view help;   // of the flag
  bool seldom;             // only --help-all shows the flag
  bool (*taken_by)(SourceKind);
  std::string_view refusal;  // why a source does not take it: "which names its own types"
  /// Sets the option. Throws Error that begins with `place`.
  void (*read)(std::string_view text, std::string_view place, SourceOptions&);
  /// The option's text, as read() takes it; nullopt if it is not set.
  std::optional<std::string> (*print)(const SourceOptions&);
  std::string flag() const;
};
std::span<const SourceOption> source_options();

/// The options of `first`, and those of `second` that `first` does not set.
SourceOptions joined(const SourceOptions& first, const SourceOptions& second);
/// Only the options that such a source takes.
SourceOptions taken(const SourceOptions&, SourceKind);
/// An option that is set although such a source does not take it, or nullptr.
const SourceOption* find_refused(const SourceOptions&, SourceKind);
/// The value that the options fix for a decision such as "attention"; nullptr: none, or "auto".
const Value* find_fixed(const SourceOptions&, std::string_view kind);
/// Why two of the options cannot be combined, or "".
std::string_view contradiction(const SourceOptions&);

/// A type of floats by its name: f32, f16, bf16, or PyTorch's name. Throws Error.
ir::DType parse_float_type(std::string_view name, std::string_view place);

}  // namespace deplo::engine
