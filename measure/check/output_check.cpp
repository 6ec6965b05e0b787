#include "measure/check/output_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "core/hash.h"
#include "ir/types/float16.h"
#include "ir/types/special_floats.h"
#include "measure/check/expected_values.h"
#include "measure/check/npy.h"
#include "measure/check/tile_arrays.h"

namespace deplo::measure {
namespace {

/// The elements of a buffer that meet a condition: their number, and the offset of the first one.
struct Matches {
  std::int64_t count = 0, first = -1;
};
template <class Condition>
Matches find_all(const ir::Buffer& buffer, const Condition& condition) {
  Matches found;
  for_each_element(buffer, [&](std::int64_t offset) {
    if (condition(static_cast<std::size_t>(offset)) && found.count++ == 0) found.first = offset;
  });
  return found;
}

/// Finds elements that were not written (allowed after a prefix of the grid) and bools that are neither 0 nor 1. An
/// integer may have any value. `nans`: the special floats of the whole array, including the gaps between elements.
std::optional<Failure> find_unwritten(const ir::Buffer& buffer, const StoredElements& found,
                                      const ir::SpecialFloats& nans, Coverage coverage) {
  const bool excused = coverage == Coverage::prefix;
  if (ir::is_integer(buffer.dtype)) return std::nullopt;
  if (ir::is_float(buffer.dtype) && (excused || nans.all_ones == 0)) return std::nullopt;
  if (buffer.dtype == ir::DType::boolean && std::ranges::all_of(found.bytes(), [](auto byte) { return byte <= 1; }))
    return std::nullopt;
  const Matches wrong = find_all(buffer, [&](std::size_t at) {
    return found.is_poison(at) ? !excused : buffer.dtype == ir::DType::boolean && found.word(at) > 1;
  });
  if (wrong.count == 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(wrong.first);
  const std::string what = found.is_poison(at) ? "not written" : fmt::format("is {}, not a truth value", found[at]);
  return Failure{Status::wrong_result, fmt::format("{}: {} ({} of {} elements)", element_name(buffer, wrong.first),
                                                   what, wrong.count, ir::element_count(buffer))};
}

/// Returns the bits of 64-bit integers; nothing for other types.
std::vector<std::uint64_t> words_of(const ir::Numbers& numbers) {
  return numbers.visit([](const auto& values) {
    using Value = std::decay_t<decltype(values[0])>;
    if constexpr (std::is_integral_v<Value> && sizeof(Value) == sizeof(std::uint64_t))
      return std::vector<std::uint64_t>(values.begin(), values.end());
    else
      return std::vector<std::uint64_t>();
  });
}

/// Returns the number with as many digits as distinguish it from its neighbours.
std::string text_of(double value, ir::DType dtype) {
  if (ir::is_integral(dtype)) return fmt::format("{:.0f}", value);
  return dtype == ir::DType::f64 ? fmt::format("{:.15g}", value) : fmt::format("{:.7g}", value);
}

std::string text_of(std::uint64_t word, ir::DType dtype) {
  return ir::is_unsigned(dtype) ? fmt::format("{}", word) : fmt::format("{}", static_cast<std::int64_t>(word));
}

/// True only if error_of() is within the limit. It is true for most right floats and takes less time than error_of().
/// `close`: half of the largest allowed difference; half, because error_of() rounds.
bool is_surely_right(double found, double expected, double close, ir::DType dtype) {
  if (!ir::is_float(dtype)) return false;
  if (std::abs(found - expected) <= close && std::abs(expected) <= std::numeric_limits<float>::max()) return true;
  return ir::is_float16(dtype) && std::isfinite(found) && found == ir::rounded(expected, dtype);
}

std::optional<Failure> compare(const ir::Buffer& buffer, const Reference::Output& expected, const StoredElements& found,
                               Coverage coverage, double largest_error) {
  std::int64_t covered = 0, wrong = 0;
  double worst_error = 0;
  const Reference::Element* worst = nullptr;
  const bool has_words = !expected.words.empty();
  for (const Reference::Element& element : expected.elements) {
    const auto at = static_cast<std::size_t>(element.offset);
    const double value = found[at];
    if (coverage == Coverage::prefix && found.is_poison(at)) continue;
    ++covered;
    if (is_surely_right(value, element.value, largest_error * expected.scale / 2, buffer.dtype)) continue;
    const bool other_bits = has_words && found.word(at) != expected.words[at];
    const double error =
        other_bits ? std::numeric_limits<double>::infinity() : error_of(value, element, expected.scale, buffer.dtype);
    if (error <= largest_error) continue;
    ++wrong;
    if (worst == nullptr || error > worst_error) worst = &element, worst_error = error;
  }
  // Integers are excluded, because an output that is -1 everywhere looks as if nothing was written.
  if (covered == 0 && !expected.elements.empty() && !ir::is_integer(buffer.dtype))
    return Failure{Status::wrong_result, fmt::format("{}: none of the compared elements was written", buffer.name)};
  if (worst == nullptr) return std::nullopt;
  const auto at = static_cast<std::size_t>(worst->offset);
  return Failure{
      Status::wrong_result,
      fmt::format("{}: expected {}, found {}{} ({} of {} compared are wrong)", element_name(buffer, worst->offset),
                  has_words ? text_of(expected.words[at], buffer.dtype) : text_of(worst->value, buffer.dtype),
                  has_words ? text_of(found.word(at), buffer.dtype) : text_of(found[at], buffer.dtype),
                  ir::is_integer(buffer.dtype) ? ""
                                               : fmt::format(", error {:.2g} of the scale {:.3g}", worst_error,
                                                             scale_at(*worst, expected.scale)),
                  wrong, covered)};
}

/// Reads an array from a file, which may have any shape with the same number of elements.
ir::Numbers read_array(const std::string& file, const ir::Buffer& buffer) {
  const ir::Shape shape = read_npy_header(file).shape;
  return read_npy(file, {buffer.dtype, ir::element_count(shape) == ir::element_count(buffer) ? shape : buffer.shape});
}

ir::Buffer rounding_buffer(ir::Buffer of) {
  of.dtype = ir::DType::f32;
  return of;
}

std::optional<Failure> compare_sum(const ir::Buffer& buffer, const Reference::Output& expected, const Sum& found,
                                   double largest_error) {
  const double error = error_of_sum(found, expected, buffer.dtype);
  if (error <= largest_error) return std::nullopt;
  const std::string margin =
      ir::is_float(buffer.dtype) ? fmt::format(", error {:.2g} of the scale {:.3g}", error, expected.scale) : "";
  return Failure{
      Status::wrong_result,
      fmt::format("sum of {}: expected {}, found {}{}", buffer.name,
                  text_of(expected.elements.front().value, buffer.dtype),
                  found.count == 0 ? "no element that was written" : text_of(found.value, buffer.dtype), margin)};
}

/// Returns the special floats among the elements; none for other types.
ir::SpecialFloats special_floats(const ir::Buffer& buffer, const StoredElements& found) {
  return ir::is_float(buffer.dtype) ? ir::count_special_floats(found.bytes(), buffer.dtype) : ir::SpecialFloats();
}

}  // namespace

std::optional<Failure> find_unwritten(const ir::Buffer& buffer, const StoredElements& found) {
  return find_unwritten(buffer, found, special_floats(buffer, found), Coverage::whole);
}

OutputCheck::OutputCheck(const ir::Program& loop, Device& device, Arrays& arrays, std::uint64_t seed, double tolerance,
                         InputFiles files, Expectation expectation)
    : loop_(loop),
      device_(device),
      arrays_(arrays),
      seed_(seed),
      tolerance_(tolerance),
      files_(std::move(files)),
      expectation_(std::move(expectation)) {}

void OutputCheck::poison_outputs() {
  for (std::size_t i = 0; i < loop_.buffers.size(); ++i)
    if (loop_.buffers[i].role == ir::Role::output) arrays_.poison(i);
}

// The inputs are drawn again instead of being kept, because they may have hundreds of megabytes and the reference is
// made only once.
const Reference& OutputCheck::reference() {
  if (!reference_) reference_ = expectation_.empty() ? make_reference(loop_, seed_, files_) : expected_outputs();
  return *reference_;
}

/// Returns the outputs that the expectation gives. They come from its program, or else from its expression and its
/// files. Outputs that have neither are what the expected kernel writes into the arrays.
Reference OutputCheck::expected_outputs() {
  const ir::Program computes = compared_outputs(loop_, expectation_.ignored, expectation_.summed);
  if (!expectation_.program.empty()) {
    Reference reference =
        make_reference(program_for(expectation_.program, computes, "the reference"), seed_, files_, true);
    for (Reference::Output& output : reference.outputs) output.sum = is_summed(output.buffer);
    return reference;
  }
  if (expectation_.kernel) {
    poison_outputs();
    auto built = device_.build(*expectation_.kernel);
    const auto failed = built.ok() ? built.value()->execute(arrays_, 1) : built.failure();
    if (failed)
      throw Error(fmt::format("{}: expected a kernel that runs, found {}: {}", expectation_.name,
                              status_name(failed->status), failed->message));
    if (const auto beside = arrays_.overrun())
      throw Error(
          fmt::format("{}: expected a kernel that accesses only its arrays, found {}", expectation_.name, *beside));
    if (const auto changed = find_changed_input())
      throw Error(
          fmt::format("{}: expected a kernel that only reads its inputs, found one that {} (AccessType: "
                      "ReadWrite declares an argument that is also written)",
                      expectation_.name, changed->message));
  }
  std::map<std::string, ir::Numbers, std::less<>> computed;
  if (!expectation_.expression.empty())
    computed = evaluate_expression(expectation_.expression, computes, seed_, files_);
  Reference reference;
  for (std::size_t i = 0; i < loop_.buffers.size(); ++i) {
    const ir::Buffer& buffer = loop_.buffers[i];
    if (buffer.role != ir::Role::output || expectation_.ignored.contains(buffer.name)) continue;
    const auto file = expectation_.files.find(buffer.name);
    const auto value = computed.find(buffer.name);
    const bool in_file = file != expectation_.files.end();
    if (value == computed.end() && !in_file && !expectation_.kernel) continue;  // nothing is expected of this output
    reference.outputs.push_back(
        value != computed.end()
            ? expected_output(i, value->second, false)
            : expected_output(i,
                              in_file ? read_array(file->second, is_summed(i) ? computes.buffers[i] : seen_output(i))
                                      : arrays_.read(i),
                              true));
  }
  return reference;
}

/// Returns the buffer of an output in the form in which its elements are compared.
ir::Buffer OutputCheck::seen_output(std::size_t index) const {
  ir::Buffer buffer = loop_.buffers[index];
  const auto element = expectation_.elements.find(buffer.name);
  if (element == expectation_.elements.end()) return buffer;
  const std::int64_t count = ir::element_count(read_npy_header(expectation_.files.at(buffer.name)).shape);
  return {buffer.name, comparable_dtype(element->second), ir::Role::output, {count}, {1}};
}

StoredElements OutputCheck::found_output(std::size_t index) {
  const auto element = expectation_.elements.find(loop_.buffers[index].name);
  std::vector<std::uint8_t> bytes = arrays_.read_bytes(index);
  if (element == expectation_.elements.end()) return {loop_.buffers[index].dtype, std::move(bytes)};
  const ir::Buffer seen = seen_output(index);
  ir::tile_program::Array array = ir::tile_program::make_array(seen.name, element->second, ir::element_count(seen));
  CHECK(array.bytes.size() <= bytes.size());
  std::copy_n(bytes.begin(), array.bytes.size(), array.bytes.begin());
  bytes.assign(size_in_bytes(seen), 0);
  encode(numbers_of(array, seen.dtype), seen.dtype, std::as_writable_bytes(std::span(bytes)).data());
  return {seen.dtype, std::move(bytes)};
}

Reference::Output OutputCheck::expected_output(std::size_t index, const ir::Numbers& values, bool exact) const {
  const ir::Buffer buffer = seen_output(index);
  const auto allowed = expectation_.rounding.find(buffer.name);
  const ir::Numbers rounding =
      allowed == expectation_.rounding.end() ? ir::Numbers() : read_array(allowed->second, rounding_buffer(buffer));
  if (is_summed(index)) {
    const Sum sum = sum_of(values, buffer.dtype);
    if (sum.count == 0) nothing_written(buffer);
    return {index, {{{sum.value, 0}, 0}}, sum.magnitude > 0 ? sum.magnitude : 1, false, true};
  }
  constexpr std::size_t max_elements = std::size_t{1} << 22;  // 24 bytes per element
  // odd, so that the compared elements are in all columns
  const std::size_t step = (values.size() + max_elements - 1) / max_elements | 1;
  Reference::Output output{index, {}, 1};
  Scale scale;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!ir::is_integer(buffer.dtype) && is_poison(values[i], buffer.dtype)) {
      output.partial = true;
      continue;
    }
    if (i % step != 0) continue;
    const Reference::Element& element = output.elements.emplace_back(
        Reference::Element{{values[i], rounding.size() == 0 ? 0 : rounding[i]}, static_cast<std::int64_t>(i)});
    scale.add(element, buffer.dtype);
  }
  if (output.elements.empty()) nothing_written(buffer);
  output.scale = scale.value();
  if (exact && rounding.empty()) output.words = words_of(values);
  return output;
}

bool OutputCheck::is_summed(std::size_t index) const { return expectation_.summed.contains(loop_.buffers[index].name); }

void OutputCheck::nothing_written(const ir::Buffer& buffer) const {
  throw Error(
      fmt::format("{}: expected a kernel that writes '{}', found one that writes none of its elements, or that adds to "
                  "their values (which needs AccessType: ReadWrite)",
                  expectation_.name, buffer.name));
}

std::uint64_t OutputCheck::bits_of(std::size_t buffer) {
  const std::vector<std::uint8_t> bytes = arrays_.read_bytes(buffer);
  return checksum({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void OutputCheck::remember_inputs() {
  if (expectation_.empty()) return;
  for (std::size_t i = 0; i < loop_.buffers.size(); ++i)
    if (loop_.buffers[i].role == ir::Role::input) input_bits_[i] = bits_of(i);
}

std::optional<Failure> OutputCheck::find_changed_input() {
  std::optional<Failure> failure;
  for (const auto& [buffer, bits] : input_bits_) {
    if (bits_of(buffer) == bits) continue;
    arrays_.write(buffer, input_values(loop_, buffer, seed_, files_));
    failure =
        Failure{Status::wrong_result, fmt::format("wrote to '{}', which is an input", loop_.buffers[buffer].name)};
  }
  return failure;
}

std::optional<Failure> OutputCheck::check(Coverage coverage, double min_tolerance) {
  if (auto beside = arrays_.overrun()) return Failure{Status::guard_hit, *beside};
  if (auto changed = find_changed_input()) return changed;
  const double largest_error = std::max(tolerance_, min_tolerance);
  checked_bits_ = 0;
  for (std::size_t i = 0; i < reference().outputs.size(); ++i) {
    const ir::Buffer buffer = seen_output(reference().outputs[i].buffer);
    if (reference().outputs[i].sum) {
      if (coverage == Coverage::prefix) continue;
      const Sum found = sum_of(arrays_.read(reference().outputs[i].buffer), buffer.dtype);
      if (auto failure = compare_sum(buffer, reference().outputs[i], found, largest_error)) return failure;
      continue;
    }
    const StoredElements found = found_output(reference().outputs[i].buffer);
    const ir::SpecialFloats nans = special_floats(buffer, found);
    if (auto failure =
            find_unwritten(buffer, found, nans, reference().outputs[i].partial ? Coverage::prefix : coverage))
      return failure;
    if (nans.nans > nans.all_ones)
      if (auto failure = find_nan(i, found)) return failure;
    auto failure = compare(buffer, reference().outputs[i], found, coverage, largest_error);
    if (failure && expectation_.empty() &&
        !std::exchange(rounding_, true)) {  // only now, because it takes time that most kernels do not need
      reference_ = make_reference(loop_, seed_, files_, true);
      failure = compare(buffer, reference().outputs[i], found, coverage, largest_error);
    }
    if (failure) return failure;
    const std::span<const std::uint8_t> bytes = found.bytes();
    checked_bits_ = checksum({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, checked_bits_);
  }
  return std::nullopt;
}

/// Finds a NaN in an element that the reference does not have, if the right value of that element is not NaN.
std::optional<Failure> OutputCheck::find_nan(std::size_t output, const StoredElements& found) {
  const Reference::Output& reference = this->reference().outputs[output];
  const ir::Buffer& buffer = loop_.buffers[reference.buffer];
  if (!expectation_.empty()) return std::nullopt;
  if (static_cast<std::int64_t>(reference.elements.size()) == ir::element_count(buffer)) return std::nullopt;
  std::vector<std::int64_t> offsets;
  for_each_element(buffer, [&](std::int64_t offset) {
    const auto at = static_cast<std::size_t>(offset);
    if (std::isnan(found[at]) && !found.is_poison(at)) offsets.push_back(offset);
  });
  constexpr std::size_t looked_at = 8;  // computing one takes as long as computing an element of the reference
  const std::size_t step = std::max<std::size_t>(offsets.size() / looked_at, 1);
  for (std::size_t i = 0; i < offsets.size(); i += step) {
    const auto expected = reference_at(loop_, seed_, files_, reference.buffer, offsets[i]);
    if (expected && error_of(NAN, *expected, 1, buffer.dtype) == 0) continue;
    return Failure{Status::wrong_result, fmt::format("{}: is NaN ({} of {} elements)", element_name(buffer, offsets[i]),
                                                     offsets.size(), ir::element_count(buffer))};
  }
  return std::nullopt;
}

}  // namespace deplo::measure
