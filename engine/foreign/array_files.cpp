#include "engine/foreign/array_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "core/file.h"
#include "ir/torch/pt2/zip.h"
#include "measure/check/elements.h"
#include "measure/check/npy.h"

namespace deplo::engine::foreign {

std::string ArrayFiles::path(const std::string& file) const {
  return std::filesystem::path(file).is_absolute() ? file : (folder_ / file).lexically_normal().string();
}

std::string ArrayFiles::flat(const std::string& file, std::int64_t elements) {
  const measure::NpyHeader header = measure::read_npy_header(file);
  if (header.shape.size() == 1 || ir::element_count(header.shape) != elements) return file;
  std::int64_t bytes = 0;  // bytes of an element: 4 for "<f4"
  const std::string_view digits = std::string_view(header.type).substr(std::min<std::size_t>(header.type.size(), 2));
  std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  const std::vector<std::uint8_t> all = measure::read_npy_elements(file, static_cast<std::size_t>(elements * bytes));
  return write(measure::npy_start({header.type, {elements}}) + std::string(all.begin(), all.end()), file);
}

std::string ArrayFiles::array(const std::string& text, const std::string& name) {
  const std::size_t end = text.find(".npz");
  if (end == std::string::npos) return path(text);
  const std::string archive = path(text.substr(0, end + 4));
  const std::string inside = text.size() > end + 5 ? text.substr(end + 5) : name;
  return write(ir::torch::Zip(std::filesystem::path(archive)).read_array(inside), archive);
}

std::string ArrayFiles::raw(const Config& source, ir::DType type, std::int64_t elements) {
  const std::string file = path(source.text());
  const std::string bytes = read_file(file);
  const std::int64_t expected = elements * ir::bytes(type);
  if (static_cast<std::int64_t>(bytes.size()) != expected)
    source.expected(fmt::format("a file of {} bytes, not {}", expected, bytes.size()));
  return values(measure::decode(std::as_bytes(std::span(bytes)), type), type, file);
}

std::string ArrayFiles::values(const ir::Numbers& numbers, ir::DType type, const std::string& source) {
  return write(measure::npy_bytes(numbers, {type, {std::ssize(numbers)}}), source);
}

std::string ArrayFiles::write(const std::string& bytes, const std::string& source) {
  if (!made_) made_ = std::make_shared<const measure::WorkFolder>();
  return made_->write(fmt::format("{}.npy", next_++), bytes, source);
}

}  // namespace deplo::engine::foreign
