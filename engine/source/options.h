// What a user may say of any source besides where it comes from: the type of its floats, how its kernels are cut. One
// list, from which the command line's flags, the keys of experiments and the text of stored experiments follow.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "rules/fusion/fuse.h"

namespace deplo::engine {

/// nullopt: not said.
struct SourceOptions {
  std::optional<ir::DType> dtype = {};             // of floats for which the source names no type
  std::optional<bool> allow_tf32 = {};             // of the kernels that multiply f32 (ir/program.h)
  std::optional<rules::Attention> attention = {};  // as one kernel, or not
  std::optional<std::int64_t> key_parts = {};      // of an attention in one kernel; 0: as many as the target wants
  bool operator==(const SourceOptions&) const = default;
};

/// What an option needs to know of a source.
enum class SourceKind : std::uint8_t { expression, file, pt2, model, kernel, tile };
std::string_view name(SourceKind);

struct SourceOption {
  std::string_view name;   // the key in an experiment; the flag has dashes in place of underscores
  std::string_view words;  // what follows the flag: "f32|f16|bf16"; "": a switch, true or false in an experiment
  std::string_view help;   // of the flag
  bool seldom;             // the flag is shown by --help-all alone
  bool (*taken_by)(SourceKind);
  std::string_view refusal;  // why a source does not take it: "which names its own types"
  /// Sets the option. Throws Error that begins with the place.
  void (*read)(std::string_view text, std::string_view place, SourceOptions&);
  /// As read() takes it; nullopt where it is not said.
  std::optional<std::string> (*print)(const SourceOptions&);
  std::string flag() const;
};
std::span<const SourceOption> source_options();

/// As the first says, or else the second.
SourceOptions joined(const SourceOptions& first, const SourceOptions& second);
/// Those that such a source takes.
SourceOptions taken(const SourceOptions&, SourceKind);
/// An option that is said and that such a source does not take, or nullptr.
const SourceOption* find_refused(const SourceOptions&, SourceKind);
/// What two of them say that cannot both be, or "".
std::string_view contradiction(const SourceOptions&);

/// Of floats, by its name: f32, f16, bf16, or as PyTorch calls it. Throws Error.
ir::DType parse_float_type(std::string_view name, std::string_view place);

}  // namespace deplo::engine
