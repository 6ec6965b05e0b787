#include "ir/tile_program/launches.h"

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"

namespace deplo::ir::tile_program {

std::size_t Launcher::add_pointer(std::string name, DType element, std::int64_t elements) {
  Array array = make_array(std::move(name), element, elements);
  Rng rng(seed_++);
  for (std::int64_t i = 0; i < elements; ++i)
    array.set(i, is_integral(element) ? static_cast<double>(rng.below(100)) : round_to(rng.uniform(-1, 1), element));
  arrays.push_back(std::move(array));
  strides_.emplace_back();
  launch.arguments.emplace_back(ArrayArgument{arrays.size() - 1});
  return arrays.size() - 1;
}

std::size_t Launcher::add(std::string name, DType element, const Extents& shape, std::int64_t pitch) {
  Extents strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d > 1; --d)
    strides[d - 2] = d == shape.size() && pitch != 0 ? pitch : strides[d - 1] * shape[d - 1];
  const std::size_t array = add_pointer(std::move(name), element, strides[0] * shape[0]);
  strides_[array] = strides;
  for (const std::int64_t e : shape) scalar(e);
  for (const std::int64_t s : strides) scalar(s);
  return array;
}

std::size_t Launcher::add(std::string name, const std::vector<std::int64_t>& values) {
  const std::size_t array = add(std::move(name), DType::i32, {std::ssize(values)});
  for (std::size_t i = 0; i < values.size(); ++i)
    arrays[array].set(static_cast<std::int64_t>(i), static_cast<double>(values[i]));
  return array;
}

LaunchResult Launcher::run(const Program& program, std::array<std::int64_t, 3> grid, std::uint64_t order) {
  launch.grid = grid;
  launch.seed = order;
  return tile_program::run(program, launch, arrays);
}

std::int64_t Launcher::offset(std::size_t array, std::initializer_list<std::int64_t> index) const {
  std::int64_t at = 0;
  std::size_t d = 0;
  for (const std::int64_t i : index) at += i * strides_.at(array).at(d++);
  return at;
}

double Launcher::at(std::size_t array, std::initializer_list<std::int64_t> index) const {
  return arrays.at(array).number(offset(array, index));
}

void Launcher::set(std::size_t array, std::initializer_list<std::int64_t> index, double value) {
  arrays.at(array).set(offset(array, index), value);
}

Routing route(const std::vector<std::int64_t>& expert_of_row, std::int64_t experts, std::int64_t tile) {
  Routing routing;
  const std::int64_t rows = std::ssize(expert_of_row);
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    for (std::int64_t row = 0; row < rows; ++row)
      if (expert_of_row[static_cast<std::size_t>(row)] == expert) routing.ids.push_back(row);
    while (std::ssize(routing.ids) % tile != 0) routing.ids.push_back(rows);
    while (std::ssize(routing.experts) < std::ssize(routing.ids) / tile) routing.experts.push_back(expert);
  }
  return routing;
}

std::filesystem::path shared_programs() {
  const std::filesystem::path folder = std::filesystem::path(DEPLO_SOURCE_DIR) / ".." / "shared" / "tile_programs";
  return std::filesystem::exists(folder) ? folder : std::filesystem::path();
}

Program read_file_program(const std::filesystem::path& file) {
  return read_program(read_file(file), file.filename().string());
}

std::string message_of(std::string_view text) {
  try {
    const Program program = read_program(text, "test.tile");
    Launcher launcher;
    launcher.run(program, {1, 1, 1});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace deplo::ir::tile_program
