// Options of a source: the type of its floats, and how it is divided into kernels. The command line's flags, the keys
// of experiments and the text of stored experiments are all generated from one list.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/trail.h"
#include "ir/types/dtype.h"

namespace deplo::engine {

/// The values of the options. nullopt: the option is not set.
struct SourceOptions {
  std::optional<ir::DType> dtype = {};  // type of the floats for which the source names no type
  std::optional<bool> allow_tf32 = {};  // for kernels that multiply f32 (ir/program.h)
  // Fixed decisions about the kernels, each named by its kind. The value "auto" means that the decision is not fixed.
  Trail fixed = {};
  bool operator==(const SourceOptions&) const = default;
};

/// The kind of a source. It determines which options the source takes.
enum class SourceKind : std::uint8_t { expression, file, pt2, model, kernel, tile, space };
std::string_view name(SourceKind);

struct SourceOption {
  std::string_view name;   // the key in an experiment; the flag has dashes instead of underscores
  std::string_view words;  // the flag's argument, such as "f32|f16|bf16"; "": a switch (in experiments: true or false)
  std::string_view help;   // help text of the flag
  bool seldom;             // true: only --help-all shows the flag
  bool (*taken_by)(SourceKind);
  std::string_view refusal;  // a clause that says why a source does not take the option: "which names its own types"
  /// Sets the option. Throws Error, prefixed by `place`.
  void (*read)(std::string_view text, std::string_view place, SourceOptions&);
  /// Returns the option's value as a text that read() accepts; nullopt if it is not set.
  std::optional<std::string> (*print)(const SourceOptions&);
  std::string flag() const;
};
std::span<const SourceOption> source_options();

/// Returns the options of `first`, and the options of `second` that `first` does not set.
SourceOptions joined(const SourceOptions& first, const SourceOptions& second);
/// Returns only the options that a source of this kind takes.
SourceOptions taken(const SourceOptions&, SourceKind);
/// Returns an option that is set although a source of this kind does not take it; nullptr if there is none.
const SourceOption* find_refused(const SourceOptions&, SourceKind);
/// Returns the value that the options fix for a decision such as "attention"; nullptr if it is not set, or is "auto".
const Value* find_fixed(const SourceOptions&, std::string_view kind);
/// Returns why two of the options cannot be combined; "" if they can.
std::string_view contradiction(const SourceOptions&);

/// Returns the float type with this name: f32, f16, bf16, or PyTorch's name. Throws Error, prefixed by `place`.
ir::DType parse_float_type(std::string_view name, std::string_view place);

}  // namespace deplo::engine
