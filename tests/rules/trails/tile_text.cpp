#include "rules/trails/tile_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace deplo::rules {

namespace tp = ir::tile_program;

namespace {

std::string names(const std::vector<WrittenTile>& tiles) {
  std::string text;
  for (const WrittenTile& tile : tiles) text += (text.empty() ? "%" : ", %") + tile.name;
  return text;
}

std::string types(const std::vector<WrittenTile>& tiles) {
  std::string text;
  for (const WrittenTile& tile : tiles) text += (text.empty() ? "" : ", ") + print_type(tile);
  return text;
}

std::string literal(ir::DType element, double value) {
  if (ir::is_integral(element)) return fmt::format("{}", static_cast<std::int64_t>(value));
  if (value == -std::numeric_limits<double>::infinity()) return "0xFF800000";  // the bits of an f32
  return fmt::format("{:.1f}", value);
}

}  // namespace

std::string print_type(const WrittenTile& tile) {
  return tp::print(*tp::tile_type(tile.element, tile.shape, tile.pointer));
}

WrittenTile TileText::fresh(ir::DType element, Extents shape, double bound, bool pointer) {
  return {fmt::format("v{}", named_++), element, std::move(shape), bound, pointer};
}

WrittenTile TileText::define(const std::string& operation, ir::DType element, Extents shape, double bound,
                             bool pointer) {
  WrittenTile result = fresh(element, std::move(shape), bound, pointer);
  line(fmt::format("%{} = {}", result.name, operation));
  return result;
}

// --- Parameters ------------------------------------------------------------------------------------------------------

std::string TileText::parameter(const std::string& type) {
  std::string name = fmt::format("p{}", named_++);
  parameters_ += fmt::format("{}%{}: {}", parameters_.empty() ? "" : ", ", name, type);
  return name;
}

WrittenArray TileText::array(ir::DType element, const Extents& shape, double bound, bool gaps) {
  WrittenArray result{parameter(fmt::format("tile<ptr<{}>>", ir::tile_name(element))), element, shape, bound};
  for (std::size_t d = 0; d < shape.size(); ++d) parameters_ += fmt::format(", %{}_n{}: tile<i32>", result.name, d);
  for (std::size_t d = 0; d < shape.size(); ++d) parameters_ += fmt::format(", %{}_s{}: tile<i32>", result.name, d);
  const auto gap = static_cast<std::int64_t>(gaps && rng.below(2) == 0 ? 1 + rng.below(8) : 0);
  launch.array(result.name, element, shape, shape.size() == 1 || gap == 0 ? 0 : shape.back() + gap);
  tp::Array& values = launch.launcher.arrays.back();
  const auto most = static_cast<std::uint64_t>(bound);
  for (std::int64_t i = 0; i < values.elements(); ++i)
    values.set(i, static_cast<double>(rng.below(2 * most + 1)) - bound);
  return result;
}

WrittenArray TileText::numbers(std::int64_t count, std::int64_t past, bool distinct) {
  WrittenArray result{parameter("tile<ptr<i32>>"), ir::DType::i32, {count}, static_cast<double>(past + count + 2)};
  parameters_ += fmt::format(", %{0}_n0: tile<i32>, %{0}_s0: tile<i32>", result.name);
  // Some values are below 0, some are `past` or more.
  std::vector<std::int64_t> values(static_cast<std::size_t>(std::max(count, past) + 4));
  std::iota(values.begin(), values.end(), -2);
  for (std::size_t i = 0; i < values.size(); ++i) std::swap(values[i], values[rng.below(values.size())]);
  values.resize(static_cast<std::size_t>(count));
  if (!distinct)
    for (std::int64_t& value : values)
      value = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(past + 4))) - 2;
  launch.numbers(result.name, values);
  return result;
}

WrittenTile TileText::scalar(std::int64_t value) {
  launch.scalar(value);
  return {parameter("tile<i32>"), ir::DType::i32, {}, std::fabs(static_cast<double>(value))};
}

WrittenTile TileText::scalar(double value) {
  launch.scalar(value);
  return {parameter("tile<f32>"), ir::DType::f32, {}, std::fabs(value)};
}

// --- Operations ------------------------------------------------------------------------------------------------------

WrittenTile TileText::constant(ir::DType element, const Extents& shape, double value) {
  const std::string type = tp::print(*tp::tile_type(element, shape));
  return define(fmt::format("constant <{}: {}> : {}", ir::tile_name(element), literal(element, value), type), element,
                shape, std::fabs(value));
}

WrittenTile TileText::same(const std::string& op, const std::vector<WrittenTile>& of, double bound,
                           const std::string& words) {
  return define(fmt::format("{} {}{} : {}", op, names(of), words, print_type(of[0])), of[0].element, of[0].shape,
                bound);
}

WrittenTile TileText::reshape(const WrittenTile& of, const Extents& shape) {
  if (of.shape == shape) return of;
  WrittenTile result = fresh(of.element, shape, of.bound, of.pointer);
  line(fmt::format("%{} = reshape %{} : {} -> {}", result.name, of.name, print_type(of), print_type(result)));
  return result;
}

WrittenTile TileText::broadcast(const WrittenTile& of, const Extents& shape) {
  Extents full = of.shape;
  full.insert(full.begin(), shape.size() - full.size(), 1);
  const WrittenTile whole = reshape(of, full);
  if (full == shape) return whole;
  WrittenTile result = fresh(of.element, shape, of.bound, of.pointer);
  line(fmt::format("%{} = broadcast %{} : {} -> {}", result.name, whole.name, print_type(whole), print_type(result)));
  return result;
}

WrittenTile TileText::permute(const WrittenTile& of, const std::vector<int>& order) {
  Extents shape;
  for (const int d : order) shape.push_back(of.shape[static_cast<std::size_t>(d)]);
  WrittenTile result = fresh(of.element, shape, of.bound);
  line(fmt::format("%{} = permute %{} [{}] : {} -> {}", result.name, of.name, fmt::join(order, ", "), print_type(of),
                   print_type(result)));
  return result;
}

WrittenTile TileText::convert(const WrittenTile& of, ir::DType to) {
  if (of.element == to) return of;
  const char* op = ir::is_integral(of.element) ? "itof" : ir::is_integral(to) ? "ftoi" : "ftof";
  WrittenTile result = fresh(to, of.shape, of.bound);
  line(fmt::format("%{} = {} %{}{} : {} -> {}", result.name, op, of.name, op[0] == 'f' && op[3] == 'f' ? "" : " signed",
                   print_type(of), print_type(result)));
  return result;
}

WrittenTile TileText::compare(const std::string& predicate, const WrittenTile& a, const WrittenTile& b) {
  WrittenTile result = fresh(ir::DType::boolean, a.shape, 1);
  const bool whole = ir::is_integral(a.element);
  line(fmt::format("%{} = {} {}{} %{}, %{}{} : {} -> {}", result.name, whole ? "cmpi" : "cmpf", predicate,
                   whole ? "" : " ordered", a.name, b.name, whole ? ", signed" : "", print_type(a),
                   print_type(result)));
  return result;
}

WrittenTile TileText::select(const WrittenTile& condition, const WrittenTile& a, const WrittenTile& b) {
  return define(fmt::format("select %{}, %{}, %{} : {}, {}", condition.name, a.name, b.name, print_type(condition),
                            print_type(a)),
                a.element, a.shape, std::max(a.bound, b.bound));
}

WrittenTile TileText::iota(const WrittenTile& offset, std::int64_t extent) {
  const WrittenTile within =
      define(fmt::format("iota : tile<{}xi32>", extent), ir::DType::i32, {extent}, static_cast<double>(extent));
  return same("addi", {broadcast(offset, {extent}), within}, offset.bound + within.bound);
}

WrittenTile TileText::reduce(const std::string& op, const WrittenTile& of, std::int64_t dim) {
  Extents shape = of.shape;
  shape.erase(shape.begin() + dim);
  const double infinity = std::numeric_limits<double>::infinity();
  const double identity = op == "addf" ? 0 : op == "maxf" ? -infinity : infinity;
  const double many = op == "addf" ? static_cast<double>(of.shape[static_cast<std::size_t>(dim)]) : 1;
  WrittenTile result = fresh(of.element, shape, many * of.bound);
  const std::string number = identity == 0 ? "0.0" : identity < 0 ? "0xFF800000" : "0x7F800000";
  const WrittenTile a = fresh(of.element, {}, 0), b = fresh(of.element, {}, 0), c = fresh(of.element, {}, 0);
  line(fmt::format("%{} = reduce %{} dim={} identities=[{} : f32] : {} -> {}", result.name, of.name, dim, number,
                   print_type(of), print_type(result)));
  line(fmt::format(
      "(%{0}: tile<f32>, %{1}: tile<f32>) {{\n%{2} = {3} %{0}, %{1} : tile<f32>\nyield %{2} : tile<f32>\n}}", a.name,
      b.name, c.name, op));
  return result;
}

WrittenTile TileText::running_sum(const WrittenTile& of, std::int64_t dim) {
  WrittenTile result =
      fresh(of.element, of.shape, of.bound * static_cast<double>(of.shape[static_cast<std::size_t>(dim)]));
  const WrittenTile a = fresh(of.element, {}, 0), b = fresh(of.element, {}, 0), c = fresh(of.element, {}, 0);
  line(fmt::format("%{} = scan %{} dim={} reverse=false identities=[0.0 : f32] : {} -> {}", result.name, of.name, dim,
                   print_type(of), print_type(result)));
  line(fmt::format(
      "(%{0}: tile<f32>, %{1}: tile<f32>) {{\n%{2} = addf %{0}, %{1} : tile<f32>\nyield %{2} : tile<f32>\n}}", a.name,
      b.name, c.name));
  return result;
}

WrittenTile TileText::multiply_tiles(const WrittenTile& a, const WrittenTile& b, const WrittenTile& sum,
                                     std::int64_t k_in_all) {
  const double bound = a.bound * b.bound * static_cast<double>(k_in_all);
  return define(fmt::format("mmaf %{}, %{}, %{} : {}, {}, {}", a.name, b.name, sum.name, print_type(a), print_type(b),
                            print_type(sum)),
                sum.element, sum.shape, bound);
}

WrittenTile TileText::integer(const std::string& op, const WrittenTile& of, std::int64_t by) {
  const auto size = static_cast<double>(std::abs(by));
  const double bound = op == "muli" ? of.bound * size : op == "remi" ? size : of.bound + size;
  const bool signs = op != "muli" && op != "addi" && op != "subi";
  return same(op, {of, constant(of.element, of.shape, static_cast<double>(by))}, bound, signs ? " signed" : "");
}

// --- Memory ----------------------------------------------------------------------------------------------------------

WrittenView TileText::view(const WrittenArray& array, const Extents& tile, const std::string& padding,
                           std::vector<int> dims) {
  const std::size_t rank = array.shape.size();
  std::string shape, strides, extents, steps;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool last = d + 1 == rank;
    shape += fmt::format("{}%{}_n{}", d == 0 ? "" : ", ", array.name, d);
    strides +=
        last ? fmt::format("{}1", d == 0 ? "" : ", ") : fmt::format("{}%{}_s{}", d == 0 ? "" : ", ", array.name, d);
    extents += "?x";
    steps += last ? "1" : "?,";
  }
  const std::string tensor =
      fmt::format("tensor_view<{}{}, strides=[{}]>", extents, ir::tile_name(array.element), steps);
  std::string map;
  if (!dims.empty()) map = fmt::format(", dim_map=[{}]", fmt::join(dims, ", "));
  WrittenView result;
  result.name = fmt::format("v{}", named_++);
  result.type = fmt::format("partition_view<tile=({}), {}{}{}>", tp::print(tile),
                            padding.empty() ? "" : "padding_value = " + padding + ", ", tensor, map);
  const bool infinite = !padding.empty() && padding != "zero" && padding != "neg_zero";
  result.tile = {"", array.element, tile, infinite ? std::numeric_limits<double>::infinity() : array.bound};
  head_ += fmt::format("%{0}_t = make_tensor_view %{1}, shape = [{2}], strides = [{3}] : tile<i32> -> {4}\n",
                       result.name, array.name, shape, strides, tensor);
  head_ += fmt::format("%{0} = make_partition_view %{0}_t : {1}\n", result.name, result.type);
  return result;
}

WrittenTile TileText::tiles_of(const WrittenView& view, std::int64_t dim) {
  const std::string name = fmt::format("v{}", named_++);
  std::string all;
  for (std::size_t d = 0; d < view.tile.shape.size(); ++d) all += fmt::format("{}%{}_{}", d == 0 ? "" : ", ", name, d);
  line(fmt::format("{} = get_index_space_shape %{} : {} -> tile<i32>", all, view.name, view.type));
  return {fmt::format("{}_{}", name, dim), ir::DType::i32, {}, 1e4};
}

WrittenTile TileText::load(const WrittenView& view, const std::vector<WrittenTile>& index) {
  WrittenTile result = fresh(view.tile.element, view.tile.shape, view.tile.bound);
  line(fmt::format("%{0}, %{0}_t = load_view_tko weak %{1}[{2}] : {3}, tile<i32> -> {4}, token", result.name, view.name,
                   names(index), view.type, print_type(result)));
  return result;
}

void TileText::store(const WrittenView& view, const std::vector<WrittenTile>& index, const WrittenTile& value) {
  line(fmt::format("%v{} = store_view_tko weak %{}, %{}[{}] : {}, {}, tile<i32> -> token", named_++, value.name,
                   view.name, names(index), print_type(value), view.type));
}

WrittenTile TileText::pointers(const WrittenArray& array, const std::vector<WrittenTile>& index) {
  const WrittenTile base{array.name, array.element, {}, 0, true};
  const Extents& shape = index[0].shape;
  WrittenTile offset = index.back();
  for (std::size_t d = 0; d + 1 < index.size(); ++d) {
    const WrittenTile stride{fmt::format("{}_s{}", array.name, d), ir::DType::i32, {}, 1e4};
    const WrittenTile rows = same("muli", {index[d], broadcast(stride, shape)}, 1e8);
    offset = same("addi", {offset, rows}, 1e8);
  }
  return advanced(broadcast(base, shape), offset);
}

WrittenTile TileText::advanced(const WrittenTile& pointers, const WrittenTile& offset) {
  return define(fmt::format("offset %{}, %{} : {}, {} -> {}", pointers.name, offset.name, print_type(pointers),
                            print_type(offset), print_type(pointers)),
                pointers.element, pointers.shape, 0, true);
}

WrittenTile TileText::inside(const WrittenArray& array, const std::vector<WrittenTile>& index) {
  WrittenTile all;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const WrittenTile extent{fmt::format("{}_n{}", array.name, d), ir::DType::i32, {}, 1e4};
    const WrittenTile here = compare("less_than", index[d], broadcast(extent, index[d].shape));
    all = d == 0 ? here : same("andi", {all, here}, 1);
  }
  return all;
}

WrittenTile TileText::load(const WrittenTile& pointers, const WrittenArray& array, const WrittenTile* mask,
                           const WrittenTile* padding) {
  WrittenTile result =
      fresh(pointers.element, pointers.shape, std::max(array.bound, padding == nullptr ? 0 : padding->bound));
  std::vector<WrittenTile> operands = {pointers};
  if (mask != nullptr) operands.push_back(*mask);
  if (padding != nullptr) operands.push_back(*padding);
  line(fmt::format("%{0}, %{0}_t = load_ptr_tko weak {1} : {2} -> {3}, token", result.name, names(operands),
                   types(operands), print_type(result)));
  return result;
}

void TileText::store(const WrittenTile& pointers, const WrittenTile& value, const WrittenTile* mask) {
  std::vector<WrittenTile> operands = {pointers, value};
  if (mask != nullptr) operands.push_back(*mask);
  line(fmt::format("%v{} = store_ptr_tko weak {} : {} -> token", named_++, names(operands), types(operands)));
}

void TileText::add_atomically(const WrittenTile& pointers, const WrittenTile& value, const WrittenTile& mask) {
  const std::vector<WrittenTile> operands = {pointers, value, mask};
  line(fmt::format("%v{0}, %v{0}_t = atomic_rmw_tko relaxed device %{1}, addf, %{2}, %{3} : {4} -> {5}, token",
                   named_++, pointers.name, value.name, mask.name, types(operands), print_type(value)));
}

// --- Control ---------------------------------------------------------------------------------------------------------

WrittenTile TileText::block(int dimension) {
  if (blocks_known_++ == 0) head_ += "%b0, %b1, %b2 = get_tile_block_id : tile<i32>\n";
  return {fmt::format("b{}", dimension), ir::DType::i32, {}, 1e4};
}

WrittenTile TileText::blocks(int dimension) {
  if (counts_known_++ == 0) head_ += "%g0, %g1, %g2 = get_num_tile_blocks : tile<i32>\n";
  return {fmt::format("g{}", dimension), ir::DType::i32, {}, 1e4};
}

std::pair<WrittenTile, std::vector<WrittenTile>> TileText::begin_for(const WrittenTile& lower, const WrittenTile& upper,
                                                                     const WrittenTile& step,
                                                                     const std::vector<WrittenTile>& first) {
  WrittenTile counter = fresh(ir::DType::i32, {}, upper.bound);
  regions_.push_back({body_.size(), first});
  std::string text =
      fmt::format("for %{} in (%{} to %{}, step %{}) : tile<i32>", counter.name, lower.name, upper.name, step.name);
  std::vector<WrittenTile> carried;
  std::string begins;
  for (const WrittenTile& tile : first) {
    carried.push_back(fresh(tile.element, tile.shape, tile.bound, tile.pointer));
    begins += fmt::format("{}%{} = %{}", begins.empty() ? "" : ", ", carried.back().name, tile.name);
  }
  if (!first.empty()) text += fmt::format(" iter_values({}) -> ({})", begins, types(first));
  line(text + " {");
  return {counter, carried};
}

void TileText::yield(const std::string& word, const std::vector<WrittenTile>& results) {
  line(results.empty() ? word : fmt::format("{} {} : {}", word, names(results), types(results)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    WrittenTile& result = regions_.back().results[i];
    result.bound = std::max(result.bound, results[i].bound);
  }
}

std::vector<WrittenTile> TileText::close() {
  line("}");
  Region region = std::move(regions_.back());
  regions_.pop_back();
  for (WrittenTile& result : region.results) result.name = fmt::format("v{}", named_++);
  if (!region.results.empty()) body_.insert(region.at, names(region.results) + " = ");
  return region.results;
}

std::vector<WrittenTile> TileText::end_for(const std::vector<WrittenTile>& next) {
  yield("continue", next);
  return close();
}

void TileText::begin_if(const WrittenTile& condition, const std::vector<WrittenTile>& like) {
  regions_.push_back({body_.size(), like});
  line(fmt::format("if %{}{} {{", condition.name, like.empty() ? "" : fmt::format(" -> ({})", types(like))));
}

void TileText::begin_else(const std::vector<WrittenTile>& results) {
  yield("yield", results);
  line("} else {");
}

std::vector<WrittenTile> TileText::end_if(const std::vector<WrittenTile>& results) {
  yield("yield", results);
  return close();
}

std::string TileText::text() const { return fmt::format("entry @drawn({}) {{\n{}{}}}\n", parameters_, head_, body_); }

}  // namespace deplo::rules
