#include "engine/source/tile_program/block_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "measure/check/npy.h"
#include "measure/check/tile_arrays.h"

namespace deplo::engine {
namespace {

namespace tiles = ir::tile_program;

class BlockPosition final : public search::Position {
 public:
  BlockPosition(const rules::BlockDecisions& decisions, Trail trail)
      : decisions_(decisions), trail_(std::move(trail)), fork_(decisions.next(trail_)) {}

  const std::optional<Fork>& fork() const override { return fork_; }
  const Trail& trail() const override { return trail_; }
  search::PositionPtr choose(std::size_t option) const override {
    CHECK(fork_ && option < fork_->options.size());
    Trail longer = trail_;
    longer.push_back({fork_->knob, fork_->options[option]});
    return std::make_shared<BlockPosition>(decisions_, std::move(longer));
  }

 private:
  const rules::BlockDecisions& decisions_;
  Trail trail_;
  std::optional<Fork> fork_;
};

class BlockSpace final : public search::Space {
 public:
  explicit BlockSpace(const rules::BlockDecisions& decisions) : decisions_(decisions) {}
  search::PositionPtr root() const override { return std::make_shared<BlockPosition>(decisions_, Trail{}); }
  std::vector<search::KnobInfo> knobs() const override {
    std::vector<search::KnobInfo> knobs = Space::knobs();
    for (search::KnobInfo& knob : knobs) knob.meaning = rules::meaning_of_block_knob(knob.name);
    return knobs;
  }

 private:
  const rules::BlockDecisions& decisions_;
};

std::vector<tiles::Array> sizes_of(const TileLaunch& launch) {
  std::vector<tiles::Array> arrays;
  for (const TileLaunch::Array& array : launch.arrays)
    arrays.push_back(tiles::make_array(array.name, array.element, elements_of(array)));
  return arrays;
}

ir::Program without_statements(ir::Program program) {
  program.body.clear();
  program.level = ir::Level::loop;
  return program;
}

/// Returns the array's bytes as elements of the buffer. If these are 32-bit words, zeros fill up the last word.
ir::Numbers in_buffer(const tiles::Array& array, const ir::Buffer& buffer) {
  if (buffer.dtype == array.element) return measure::numbers_of(array, array.element);
  tiles::Array words = tiles::make_array(array.name, buffer.dtype, ir::element_count(buffer));
  std::ranges::copy(array.bytes, words.bytes.begin());
  return measure::numbers_of(words, buffer.dtype);
}

bool rounds_between_operations(const tiles::Entry& entry) {
  return std::ranges::any_of(entry.values, [](const tiles::Value& value) {
    return value.type->is_tile() && ir::is_float(value.type->element) && ir::bytes(value.type->element) < 4;
  });
}

}  // namespace

BlockProgram::BlockProgram(TileLaunch launch, Target target)
    : launch_(std::move(launch)),
      target_(std::move(target)),
      entry_(find_entry(launch_.program, launch_.entry)),
      sizes_(sizes_of(launch_)),
      decisions_(entry_, target_, usable_threads()),
      space_(std::make_unique<BlockSpace>(decisions_)),
      heuristic_(lower(decisions_.schedule({}).value())),
      signature_(without_statements(heuristic_.kernel)) {}

void BlockProgram::check_tunable() const {
  if (std::ranges::find(heuristic_.written, true) == heuristic_.written.end())
    throw Error(
        fmt::format("{}: entry {}: expected a tile program that writes an array, so that schedules can be "
                    "checked, found none",
                    launch_.program.where, launch_.entry));
}

/// Returns the numbers of threads with which the program can be lowered, and sets scratch_. Throws the Error of the
/// heuristic's number, which comes first, if that number cannot be used. Keeping all tiles needs the most memory.
std::vector<std::int64_t> BlockProgram::usable_threads() {
  std::vector<std::int64_t> usable;
  for (const std::int64_t threads : rules::block_threads(entry_, target_)) try {
      for (const bool keep : {false, true}) {
        rules::BlockSchedule schedule{.threads = threads, .kept = {}, .products = {}};
        if (keep) schedule.kept = rules::all_kept(entry_);
        scratch_ = std::max(scratch_, rules::scratch_bytes(lower(schedule)));
      }
      usable.push_back(threads);
    } catch (const Error&) {
      if (usable.empty()) throw;
    }
  return usable;
}

rules::BlockKernel BlockProgram::lower(rules::BlockSchedule schedule) const {
  schedule.scratch = scratch_;
  return rules::lower_blocks(launch_.program, launch_of(launch_, 0), sizes_, schedule, target_);
}

/// `text`: a trail, or the beginning of a trail that the heuristic completes.
search::PositionPtr BlockProgram::candidate(std::string_view text, std::string_view place) const {
  search::PositionPtr begun = search::walk(*space_, parse_trail(text));
  if (!begun) throw Error(fmt::format("{}: expected decisions of {}, found '{}'", place, name(), text));
  return search::completed(std::move(begun));
}

measure::KernelCode BlockProgram::code(const search::Position& candidate) const {
  rules::BlockSchedule schedule = decisions_.schedule(candidate.trail()).value();
  schedule.prints = false;
  return block_code(lower(std::move(schedule)));
}

std::string BlockProgram::identity() const { return "tile program block by block, " + engine::identity(launch_); }

std::string BlockProgram::space_text() const {
  std::string text;
  for (const search::KnobInfo& knob : space_->knobs()) {
    text += knob.name;
    for (const Value& option : knob.options) text += " " + deplo::print(option);
    text += "\n";
  }
  return text;
}

const std::vector<tiles::Array>& BlockProgram::initial() const {
  if (!initial_) initial_ = make_arrays(launch_, 0);
  return *initial_;
}

std::string BlockProgram::reference() const {
  std::string bytes;
  for (const tiles::Array& array : initial()) bytes.append(array.bytes.begin(), array.bytes.end());
  return digest(bytes);
}

std::string BlockProgram::write_numbers(const std::string& name, const ir::Numbers& numbers,
                                        const ir::TensorType& type) const {
  return folder_.write(name + ".npy", measure::npy_bytes(numbers, type), launch_.program.where);
}

measure::InputFiles BlockProgram::inputs() const {
  measure::InputFiles files;
  const auto add = [&](const tiles::Array& array, std::size_t number) {
    const ir::Buffer& buffer = signature_.buffers[number];
    files[buffer.name] = write_numbers(buffer.name, in_buffer(array, buffer), {buffer.dtype, buffer.shape});
  };
  for (std::size_t i = 0; i < initial().size(); ++i) add(initial()[i], i);
  for (const rules::BlockKernel::Initial& own : heuristic_.initial)
    add({"", ir::DType::boolean, own.bytes}, own.buffer);
  return files;
}

/// Expects the values that the interpreter leaves in the arrays that the program writes, and that no assertion fails.
measure::Expectation BlockProgram::expectation() const {
  measure::Expectation expected;
  expected.name = launch_.entry;
  std::vector<tiles::Array> after = initial(), exact;
  tiles::run(launch_.program, launch_of(launch_, 0), after);
  if (rounds_between_operations(entry_)) {
    exact = initial();
    tiles::Launch unrounded = launch_of(launch_, 0);
    unrounded.exact16 = true;
    tiles::run(launch_.program, unrounded, exact);
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    const ir::Buffer& buffer = signature_.buffers[i];
    if (buffer.role == ir::Role::input) continue;
    const ir::DType dtype = measure::comparable_dtype(after[i].element);
    const ir::Shape shape{after[i].elements()};
    if (after[i].element != buffer.dtype) expected.elements[buffer.name] = after[i].element;
    expected.files[buffer.name] =
        write_numbers(buffer.name + ".expected", measure::numbers_of(after[i], dtype), {dtype, shape});
    if (exact.empty() || !ir::is_float(dtype)) continue;
    const std::vector<double> bounds = measure::rounding_of(after[i].numbers(), exact[i].numbers(), dtype);
    const ir::Numbers rounding(std::vector<float>(bounds.begin(), bounds.end()));
    expected.rounding[buffer.name] = write_numbers(buffer.name + ".rounding", rounding, {ir::DType::f32, shape});
  }
  if (heuristic_.assertion_buffer >= 0) {
    const ir::Buffer& buffer = signature_.buffers[static_cast<std::size_t>(heuristic_.assertion_buffer)];
    expected.files[buffer.name] =
        write_numbers(buffer.name + ".expected", ir::Numbers(buffer.dtype, 1), {buffer.dtype, {1}});
  }
  return expected;
}

measure::KernelCode block_code(rules::BlockKernel kernel) {
  measure::KernelCode code{std::move(kernel.kernel), std::move(kernel.source)};
  for (std::size_t i = 0; i < kernel.written.size(); ++i)
    if (kernel.written[i]) code.source.restored.push_back(i);
  for (const rules::BlockKernel::Initial& own : kernel.initial) code.source.restored.push_back(own.buffer);
  // Blocks may wait for each other, so the whole grid must be launched at once.
  code.launch = measure::Launch{{std::exchange(code.source.blocks, 1)}, {code.source.threads}};
  return code;
}

}  // namespace deplo::engine
