#include "rules/blocks/kernel_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/emit/reserved.h"
#include "ir/text/words.h"
#include "rules/blocks/tile_memory.h"

namespace deplo::rules::blocks {
namespace {

constexpr const char* globals_buffer = "globals";
constexpr const char* allocas_buffer = "allocas";
constexpr const char* assertion_buffer = "assertion";

std::int64_t words_of(std::size_t bytes) { return static_cast<std::int64_t>((bytes + 3) / 4); }

/// The type and the number of elements of an array's buffer. Types that Loop IR lacks are stored in words.
std::pair<DType, std::int64_t> in_buffer(const tp::Array& array) {
  if (!ir::is_kernel_type(array.element) || array.element == DType::i64 || ir::is_narrow_integer(array.element))
    return {DType::i32, words_of(array.bytes.size())};
  return {array.element, array.elements()};
}

ir::Buffer output(const std::string& name, DType dtype, ir::Shape shape) {
  std::vector<std::int64_t> strides = ir::row_major_strides(shape);
  return {
      .name = name, .dtype = dtype, .role = ir::Role::output, .shape = std::move(shape), .strides = std::move(strides)};
}

}  // namespace

KernelBuffers::KernelBuffers(const tp::Program& program, std::span<const tp::Array> arrays, Code& code)
    : alloca_alignment_(ir::local_alignment) {
  for (const char* own : {globals_buffer, allocas_buffer, assertion_buffer, ir::scratch_buffer, "bx", "by", "bz", "tx"})
    code.reserve(own);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::string name = arrays[i].name;
    if (!ir::is_name(name) || ir::is_reserved(name) || code.is_reserved(name)) name = fmt::format("array_{}", i);
    code.reserve(name);
    const auto [dtype, elements] = in_buffer(arrays[i]);
    arrays_.push_back(output(name, dtype, {std::max<std::int64_t>(1, elements)}));
  }
  for (const tp::Global& global : program.globals) {
    const tp::Array array = tp::initial_array(global);
    const std::int64_t at =
        aligned(static_cast<std::int64_t>(globals_.size()), std::max(ir::local_alignment, global.alignment));
    globals_.resize(static_cast<std::size_t>(at));
    globals_.insert(globals_.end(), array.bytes.begin(), array.bytes.end());
    global_offsets_[global.name] = at;
  }
}

void KernelBuffers::add_alloca(tp::ValueId id, std::int64_t bytes, std::int64_t alignment) {
  alignment = std::max(ir::local_alignment, alignment);
  alloca_offsets_[id] = aligned(alloca_end_, alignment);
  alloca_end_ = alloca_offsets_[id] + bytes;
  alloca_alignment_ = std::max(alloca_alignment_, alignment);
}

std::int64_t KernelBuffers::alloca_bytes() const { return aligned(alloca_end_, alloca_alignment_); }

std::int64_t KernelBuffers::add_assertion(std::string message) {
  assertions_.push_back(std::move(message));
  return static_cast<std::int64_t>(assertions_.size());
}

Name KernelBuffers::assertion_address(Code& code) { return code.address(assertion_buffer); }

Name KernelBuffers::global_address(Code& code, const std::string& name) const {
  const Name first = code.address(globals_buffer);
  return code.compute("addi", DType::i64, {first, code.whole(DType::i64, global_offsets_.at(name))});
}

Name KernelBuffers::alloca_address(Code& code, tp::ValueId id, const Expr& block) const {
  const Name number = code.converted(code.index(block), DType::i32, DType::i64, false);
  const Name first = code.compute("muli", DType::i64, {number, code.whole(DType::i64, alloca_bytes())});
  const Name offset = code.compute("addi", DType::i64, {first, code.whole(DType::i64, alloca_offsets_.at(id))});
  return code.compute("addi", DType::i64, {code.address(allocas_buffer), offset});
}

void KernelBuffers::give_to(BlockKernel& to, std::int64_t blocks, std::int64_t scratch,
                            std::vector<bool> written) const {
  std::vector<ir::Buffer>& buffers = to.kernel.buffers;
  const auto add_initial = [&](std::vector<std::uint8_t> bytes) {
    to.initial.push_back({buffers.size() - 1, std::move(bytes)});
  };
  buffers = arrays_;
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    if (!written[i]) buffers[i].role = ir::Role::input;
  to.written = std::move(written);
  if (!globals_.empty()) {
    buffers.push_back(output(globals_buffer, DType::i32, {words_of(globals_.size())}));
    add_initial(globals_);
  }
  if (scratch > 0) buffers.push_back(output(ir::scratch_buffer, DType::boolean, {blocks, scratch}));
  if (alloca_bytes() > 0) buffers.push_back(output(allocas_buffer, DType::boolean, {blocks, alloca_bytes()}));
  to.assertions = assertions_;
  if (assertions_.empty()) return;
  to.assertion_buffer = static_cast<std::int64_t>(buffers.size());
  buffers.push_back(output(assertion_buffer, DType::i32, {1}));
  add_initial({0, 0, 0, 0});
}

}  // namespace deplo::rules::blocks
