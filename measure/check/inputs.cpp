#include "measure/check/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/text/text.h"
#include "ir/interpret/lazy_inputs.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "measure/check/elements.h"
#include "measure/check/npy.h"

namespace deplo::measure {
namespace {

constexpr double values_per_thread = 1 << 18;  // takes some milliseconds

bool names(const ir::Expr& e, const std::string& value) {
  if (e.kind() == ir::Expr::Kind::variable) return e.name() == value;
  return e.kind() == ir::Expr::Kind::binary && (names(e.lhs(), value) || names(e.rhs(), value));
}

/// Returns how many values, from 0 on, an index expression distinguishes: one more than the constant to which min()
/// clamps the value; nullopt if there is no clamp.
std::optional<std::int64_t> clamped_to(const ir::Expr& e, const std::string& value) {
  if (e.kind() != ir::Expr::Kind::binary) return std::nullopt;
  for (const auto& [inner, other] : {std::pair(e.lhs(), e.rhs()), std::pair(e.rhs(), e.lhs())}) {
    if (!names(inner, value)) continue;
    if (const auto clamp = clamped_to(inner, value)) return clamp;
    if (e.op() == ir::ExprOp::min && other.kind() == ir::Expr::Kind::constant) return other.value() + 1;
  }
  return std::nullopt;
}

/// Finds, for each integer input by its name, the extents of the dimensions that its values index.
class IndexExtents {
 public:
  explicit IndexExtents(const ir::Program& loop) {
    ir::for_each(loop.body, [&](const ir::Stmt& stmt) {
      if (const auto* load = stmt.as<ir::Load>()) {
        const ir::Buffer* const source = loop.find(load->buffer);
        for (std::size_t d = 0; source != nullptr && d < load->index.size(); ++d) see(load->index[d], source->shape[d]);
        if (!ir::is_integer(load->type.dtype)) return;
        inputs_[load->dst] = load->buffer;
        follow(load->dst, {load->buffer});
      } else if (const auto* write = stmt.as<ir::Write>(); write != nullptr && !adds(write->mode)) {
        const ir::Buffer* const target = loop.find(write->buffer);
        for (std::size_t d = 0; target != nullptr && d < write->index.size(); ++d)
          see_target(write->index[d], target->shape[d]);
      } else if (stmt.as<ir::Assign>() != nullptr || stmt.as<ir::Index>() != nullptr) {
        for (const std::string& value : ir::reads(stmt).values)
          if (const auto made = made_of_.find(value); made != made_of_.end()) follow(ir::defined(stmt), made->second);
      }
    });
  }
  const std::map<std::string, std::int64_t>& extents() const { return extents_; }
  /// The same for inputs that select the elements to write.
  const std::map<std::string, std::int64_t>& targets() const { return targets_; }

 private:
  using Inputs = std::set<std::string>;

  void follow(const std::string& value, const Inputs& from) { made_of_[value].insert(from.begin(), from.end()); }
  void see_target(const ir::Expr& index, std::int64_t extent) {
    for (const auto& [value, inputs] : made_of_)
      if (names(index, value))
        for (const std::string& input : inputs) targets_[input] = std::max(targets_[input], extent);
  }

  void see(const ir::Expr& index, std::int64_t extent) {
    for (const auto& [value, input] : inputs_) {
      if (!names(index, value)) continue;
      const std::int64_t max_extent = std::max<std::int64_t>(clamped_to(index, value).value_or(extent), 1);
      const auto [found, fresh] = extents_.emplace(input, max_extent);
      if (!fresh) found->second = std::min(found->second, max_extent);
    }
  }

  std::map<std::string, std::string> inputs_;  // value → the buffer from which it is loaded
  // integer value → the inputs that it is computed from, directly or through calculations
  std::map<std::string, Inputs> made_of_;
  std::map<std::string, std::int64_t> extents_, targets_;
};

}  // namespace

ir::Program with_index_ranges(ir::Program loop) {
  const IndexExtents found(loop);
  for (ir::Buffer& buffer : loop.buffers) {
    if (buffer.role != ir::Role::input || buffer.fill) continue;
    const auto target = found.targets().find(buffer.name), source = found.extents().find(buffer.name);
    if (target != found.targets().end())
      buffer.fill = {ir::Fill::Draw::distinct, 0, static_cast<double>(std::max(target->second, ir::span(buffer)))};
    else if (source != found.extents().end())
      buffer.fill = {ir::Fill::Draw::integers, 0, static_cast<double>(source->second)};
  }
  return loop;
}

ir::Program without_fills(ir::Program loop) {
  for (ir::Buffer& buffer : loop.buffers) buffer.fill.reset();
  return loop;
}

ir::Numbers input_values(const ir::Program& loop, std::size_t index, std::uint64_t seed, const InputFiles& files) {
  const ir::Buffer& buffer = loop.buffers[index];
  const auto file = files.find(buffer.name);
  if (file == files.end()) return random_input(buffer, index, seed);
  ir::Numbers rows = read_npy(file->second, {buffer.dtype, buffer.shape});
  if (ir::is_float16(buffer.dtype))
    for (std::size_t i = 0; i < rows.size(); ++i) rows.set(i, ir::rounded(rows[i], buffer.dtype));
  if (buffer.strides == ir::row_major_strides(buffer.shape)) return rows;
  ir::Numbers values(buffer.dtype, static_cast<std::size_t>(ir::span(buffer)));
  std::size_t row = 0;
  for_each_element(buffer, [&](std::int64_t offset) { values.set(static_cast<std::size_t>(offset), rows, row++); });
  return values;
}

namespace {

Rng rng_of(std::size_t index, std::uint64_t seed) {
  return Rng(Rng(seed).next() + index);  // the seed is hashed first, so that (seed, 1) is not (seed + 1, 0)
}

/// Returns the distribution of an input if its values are drawn independently, each from the same number of random
/// numbers; else nullopt.
std::optional<ir::Fill> independent_fill(const ir::Buffer& buffer) {
  if (buffer.fill && buffer.fill->draw == ir::Fill::Draw::distinct) return std::nullopt;
  if (!buffer.fill && !ir::is_float(buffer.dtype)) return std::nullopt;
  return buffer.fill.value_or(ir::Fill{ir::Fill::Draw::uniform, -1, 1});
}

/// Draws elements of a buffer, from element `first` on, into values[at] and the following ones.
void draw_part(const ir::Fill& fill, ir::DType dtype, Rng rng, std::size_t first, ir::Numbers& values, std::size_t at,
               std::size_t count) {
  rng.skip(first * ir::numbers_of_one(fill));
  for (std::size_t i = 0; i < count; ++i) values.set(at + i, ir::draw(fill, dtype, rng));
}

}  // namespace

ir::Numbers random_input(const ir::Buffer& buffer, std::size_t index, std::uint64_t seed) {
  Rng rng = rng_of(index, seed);
  ir::Numbers values(buffer.dtype, static_cast<std::size_t>(ir::span(buffer)));
  if (const std::optional<ir::Fill> fill = independent_fill(buffer)) {
    in_parts(values.size(), threads_for(static_cast<double>(values.size()), values_per_thread),
             [&](std::size_t first, std::size_t end) {
               draw_part(*fill, buffer.dtype, rng, first, values, first, end - first);
             });
  } else if (buffer.fill) {
    const std::vector<double> drawn = ir::draw(*buffer.fill, buffer.dtype, ir::span(buffer), rng);
    for (std::size_t i = 0; i < values.size(); ++i) values.set(i, drawn[i]);
  } else {
    const std::uint64_t numbers = buffer.dtype == ir::DType::boolean ? 2 : 32;
    for (std::size_t i = 0; i < values.size(); ++i) values.set(i, static_cast<double>(rng.below(numbers)));
  }
  return values;
}

ir::ComputeElements input_elements(const ir::Program& loop, std::size_t index, std::uint64_t seed,
                                   const InputFiles& files) {
  const ir::Buffer& buffer = loop.buffers[index];
  const std::optional<ir::Fill> fill = independent_fill(buffer);
  if (!fill || files.contains(buffer.name)) return ir::copy_of(input_values(loop, index, seed, files).doubles());
  return [fill = *fill, dtype = buffer.dtype, rng = rng_of(index, seed)](std::size_t first, std::span<double> to) {
    ir::Numbers values(dtype, to.size());
    draw_part(fill, dtype, rng, first, values, 0, to.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[i];
  };
}

namespace {

/// True for a distribution of real numbers around 0 that causes neither overflow nor subnormal numbers. Times do not
/// depend on such a distribution.
bool is_usual(const ir::Fill& fill) {
  constexpr double min = 1e-3, max = 1;
  const bool about_0 = (fill.draw == ir::Fill::Draw::uniform && fill.a == -fill.b) ||
                       (fill.draw == ir::Fill::Draw::normal && fill.a == 0);
  return about_0 && fill.b >= min && fill.b <= max;
}

}  // namespace

std::string_view usual_input(ir::DType dtype) {
  return ir::is_integer(dtype) ? "randint(0, 32)" : dtype == ir::DType::boolean ? "randint(0, 2)" : "uniform(-1, 1)";
}

std::string describe_inputs(const ir::Program& loop, const InputFiles& files) {
  std::map<std::string, std::string> said;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
    const ir::Buffer& buffer = loop.buffers[i];
    if (const auto file = files.find(buffer.name); file != files.end()) {
      const std::uint64_t digest = input_values(loop, i, 0, files).visit([](const auto& values) {
        return checksum({reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]});
      });
      said[buffer.name] = fmt::format("{} {:016x}", std::filesystem::path(file->second).filename().string(), digest);
    } else if (buffer.fill && !is_usual(*buffer.fill)) {
      said[buffer.name] = print(*buffer.fill);
    }
  }
  return join(said, ", ", [](const auto& input) { return fmt::format("{}: {}", input.first, input.second); });
}

}  // namespace deplo::measure
