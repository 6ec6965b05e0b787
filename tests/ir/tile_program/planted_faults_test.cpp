// Faults planted at every access of sound programs, one at a time. Each must be reported with its place.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "core/error.h"
#include "ir/tile_program/launches.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

struct Sound {
  std::string file;
  std::array<std::int64_t, 3> grid;
  std::function<void(Launcher&)> prepare;  // adds the arguments
};

void add_matrices(Launcher& launcher, std::initializer_list<const char*> names, DType element, std::int64_t rows,
                  std::int64_t columns) {
  for (const char* name : names) launcher.add(name, element, {rows, columns}, columns);
}
void add_zero(Launcher& launcher, const char* name, DType element) {
  launcher.set(launcher.add(name, element, {1}), {0}, 0);
}

/// Each program has two tiles along each dimension, so an index that is one too large is outside the array for some
/// block. Rows have no gaps: elements after a row belong to the next row.
const std::vector<Sound>& sound_programs() {
  static const std::string examples = "experiments/tile/", ours = "experiments/tile/exported/";
  static const std::vector<Sound> all = {
      {examples + "vector_add.tile",
       {1, 1, 1},
       [](Launcher& launcher) {
         for (const char* name : {"a", "b", "c"}) launcher.add_pointer(name, DType::f32, 128);
       }},
      {examples + "saxpy.tile",
       {2, 2, 1},
       [](Launcher& launcher) {
         for (const char* name : {"X", "Y"}) launcher.add_pointer(name, DType::f32, 130 * 258);
         launcher.scalar(0.5);
         launcher.scalar(std::int64_t{130});
         launcher.scalar(std::int64_t{258});
       }},
      {examples + "mutex.tile", {4, 1, 1}, [](Launcher&) {}},
      {ours + "gather_rows.tile",
       {2, 1, 1},
       [](Launcher& launcher) {
         launcher.add_pointer("x", DType::f16, 50 * 16);
         // Two ids for each row: 99 means the last row.
         launcher.arrays[launcher.add_pointer("id", DType::i32, 16)].set(3, 99);
         launcher.add_pointer("y", DType::f32, 16 * 16);
         launcher.scalar(std::int64_t{50});
         launcher.scalar(std::int64_t{16});
       }},
      {ours + "scale_13.3.tileirbc",
       {2, 1, 1},
       [](Launcher& launcher) {
         for (const char* name : {"x", "y"}) launcher.add(name, DType::f16, {256});
         launcher.scalar(0.75);
       }},
      {ours + "softmax.tileirbc",
       {3, 1, 1},
       [](Launcher& launcher) {
         add_matrices(launcher, {"x", "y"}, DType::f32, 3, 64);
       }},
      {ours + "chunked_softmax.tileirbc",
       {2, 1, 1},
       [](Launcher& launcher) {
         add_matrices(launcher, {"x", "y"}, DType::f32, 2, 64);
       }},
      {ours + "transpose.tileirbc",
       {2, 2, 1},
       [](Launcher& launcher) {
         add_matrices(launcher, {"x", "y"}, DType::f32, 32, 32);
       }},
      {ours + "matmul.tileirbc",
       {2, 2, 1},
       [](Launcher& launcher) {
         add_matrices(launcher, {"a"}, DType::bf16, 32, 32);
         add_matrices(launcher, {"b"}, DType::bf16, 32, 64);
         add_matrices(launcher, {"c"}, DType::f32, 32, 64);
       }},
      {ours + "persistent_matmul.tileirbc",
       {3, 1, 1},
       [](Launcher& launcher) {
         add_matrices(launcher, {"a"}, DType::f16, 32, 32);
         add_matrices(launcher, {"b"}, DType::f16, 32, 64);
         add_matrices(launcher, {"c"}, DType::f16, 32, 64);
       }},
      {ours + "locked_sum.tileirbc",
       {4, 1, 1},
       [](Launcher& launcher) {
         launcher.add("x", DType::f32, {128});
         add_zero(launcher, "total", DType::f32);
         add_zero(launcher, "lock", DType::i32);
       }},
      {ours + "layer_norm_backward_locked.tileirbc",
       {4, 1, 1},
       [](Launcher& launcher) {
         add_matrices(launcher, {"dy", "x"}, DType::f16, 4, 64);
         launcher.add("w", DType::f16, {64});
         for (const char* name : {"mean", "rstd"}) launcher.add(name, DType::f32, {4});
         add_matrices(launcher, {"dx"}, DType::f16, 4, 64);
         for (const char* name : {"dw", "db"}) launcher.add(name, DType::f32, {64});
         add_zero(launcher, "lock", DType::i32);
       }},
      {ours + "last_block_sum.tileirbc",
       {4, 1, 1},
       [](Launcher& launcher) {
         launcher.add("x", DType::f32, {128});
         launcher.add("parts", DType::f32, {4});
         add_zero(launcher, "count", DType::i32);
         add_zero(launcher, "total", DType::f32);
       }},
  };
  return all;
}

/// Returns the error of the first order of blocks that shows one; "" if none does.
std::string found(const Sound& sound, const std::string& text, std::array<std::int64_t, 3> grid) {
  const Program program = read_program(text, "t");
  for (std::uint64_t order = 0; order < 8; ++order) {
    Launcher launcher;
    sound.prepare(launcher);
    launcher.launch.idle = 20'000;
    try {
      launcher.run(program, grid, order);
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

struct Fault {
  std::string what;       // the operation and what is wrong with it
  bool of_place = false;  // the access is at a wrong place; else its order is wrong
  std::size_t line = 0;   // line of the operation in the text
  std::string text = {};  // text of the whole program
};

/// Plants faults in the lines of a program. Each line has one operation.
class Planter {
 public:
  explicit Planter(const std::string& text) {
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      lines_.push_back(text.substr(at, text.find('\n', at) - at));
    for (at_ = 0; at_ < lines_.size(); ++at_)
      if (std::regex_search(lines_[at_], match_, std::regex(R"((load|store|atomic)_\w+)"))) plant(match_[0]);
  }
  std::vector<Fault> faults;

 private:
  void plant(const std::string& operation) {
    const std::string name = fmt::format("{} {}", operation, ++seen_[operation]);
    const std::string& line = lines_[at_];
    if (std::regex_search(line, match_, std::regex(R"( token = %\w+)")))
      add(name + " without its token", {}, replaced(match_[0], ""));
    if (operation.ends_with("view_tko")) plant_indices(name, operation == "store_view_tko");
    if (std::regex_search(line, match_, std::regex(R"(_ptr_tko weak %(\w+).* : tile<((\d+x)*)ptr<)")))
      add(name + " one element too far",
          {fmt::format("%m_1 = constant <i32: 1> : tile<{}i32>", match_.str(2)),
           fmt::format("%m = offset %{0}, %m_1 : {1}, tile<{2}i32> -> {1}", match_.str(1), pointers(line),
                       match_.str(2))},
          replaced("weak %" + match_.str(1), "weak %m"), true);
    for (const char* order : {"acquire", "release", "acq_rel"})
      if (line.find(fmt::format("_tko {} ", order)) != std::string::npos)
        add(name + " relaxed", {}, replaced(order, "relaxed"));
    if (line.find(", xchg, ") == std::string::npos) return;
    const std::string again = std::regex_replace(line, std::regex(R"(%(\w+), %(\w+) =)"), "%again, %again_t =");
    add(name + " twice", {line}, again);
    add(name + " left out", {}, "");
  }

  void plant_indices(const std::string& name, bool stores) {
    std::regex_search(lines_[at_], match_, std::regex(R"(\[([^\]]*)\])"));
    const std::string indices = match_[0];
    const std::regex each("%\\w+");
    for (auto i = std::sregex_iterator(indices.begin(), indices.end(), each); i != std::sregex_iterator(); ++i) {
      const auto change = [&](const std::string& what, const std::string& operation) {
        std::string changed = indices;
        changed.replace(static_cast<std::size_t>(i->position()), i->str().size(), "%m");
        const auto number = std::distance(std::sregex_iterator(indices.begin(), indices.end(), each), i);
        add(fmt::format("{} index {} {}", name, number, what),
            {"%m_1 = constant <i32: 1> : tile<i32>",
             fmt::format("%m = {} {}, {} : tile<i32>", operation, i->str(), operation == "addi" ? "%m_1" : i->str())},
            replaced(indices, changed), true);
      };
      change("one too far", "addi");
      if (stores) change("always 0", "subi");
    }
  }

  std::string pointers(const std::string& line) const {
    std::smatch type;
    std::regex_search(line, type, std::regex(R"( : (tile<[^<]*<\w+>>))"));
    return type[1];
  }
  std::string replaced(const std::string& what, const std::string& by) const {
    std::string line = lines_[at_];
    return line.replace(line.find(what), what.size(), by);
  }
  void add(const std::string& what, const std::vector<std::string>& before, const std::string& line,
           bool of_place = false) {
    Fault fault{what, of_place, at_ + before.size() + 1};
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (i == at_)
        for (const std::string& one : before) fault.text += one + "\n";
      fault.text += (i == at_ ? line : lines_[i]) + "\n";
    }
    faults.push_back(std::move(fault));
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::smatch match_;
  std::map<std::string, int> seen_;
};

std::string name_of(const Sound& sound) { return std::filesystem::path(sound.file).stem().string(); }
std::string text_of(const Sound& sound) {
  return print(read_file_program(std::filesystem::path(DEPLO_SOURCE_DIR) / sound.file));
}

TEST(PlantedFaults, SoundProgramsHaveNone) {
  for (const Sound& sound : sound_programs()) EXPECT_EQ(found(sound, text_of(sound), sound.grid), "") << sound.file;
}

/// Faults that change nothing, by reason.
const std::set<std::string>& no_faults() {
  static const std::set<std::string> all = {
      // No store writes what the access loads, or no other access uses what it stores.
      "chunked_softmax: load_view_tko 1 without its token",
      "chunked_softmax: load_view_tko 2 without its token",
      "chunked_softmax: store_view_tko 1 without its token",
      "last_block_sum: load_view_tko 1 without its token",
      "last_block_sum: store_ptr_tko 1 without its token",
      "last_block_sum: store_ptr_tko 2 without its token",
      "layer_norm_backward_locked: load_view_tko 1 without its token",
      "layer_norm_backward_locked: load_view_tko 2 without its token",
      "layer_norm_backward_locked: load_view_tko 3 without its token",
      "layer_norm_backward_locked: load_view_tko 4 without its token",
      "layer_norm_backward_locked: load_view_tko 5 without its token",
      "layer_norm_backward_locked: store_view_tko 1 without its token",
      "locked_sum: load_view_tko 1 without its token",
      "matmul: load_view_tko 1 without its token",
      "matmul: load_view_tko 2 without its token",
      "matmul: store_view_tko 1 without its token",
      "persistent_matmul: load_view_tko 1 without its token",
      "persistent_matmul: load_view_tko 2 without its token",
      "persistent_matmul: store_view_tko 1 without its token",
      "scale_13.3: load_ptr_tko 1 without its token",
      "scale_13.3: store_ptr_tko 1 without its token",
      "softmax: load_view_tko 1 without its token",
      "softmax: store_view_tko 1 without its token",
      "transpose: load_view_tko 1 without its token",
      "transpose: store_view_tko 1 without its token",
      // The stored value is computed from the value that is loaded there, which is an order, too.
      "layer_norm_backward_locked: store_view_tko 2 without its token",
      "layer_norm_backward_locked: store_view_tko 3 without its token",
      "locked_sum: store_ptr_tko 1 without its token",
      "saxpy: store_view_tko 1 without its token",
      // Atomic accesses to one lock need no order.
      "layer_norm_backward_locked: atomic_cas_tko 1 without its token",
      "locked_sum: atomic_cas_tko 1 without its token",
      "mutex: atomic_cas_tko 1 without its token",
      // The lock guards no memory: blocks may print at the same time.
      "mutex: atomic_rmw_tko 1 twice",
      // The index is 0 anyway.
      "gather_rows: store_view_tko 1 index 1 always 0",
      "layer_norm_backward_locked: store_view_tko 1 index 1 always 0",
      "layer_norm_backward_locked: store_view_tko 2 index 0 always 0",
      "layer_norm_backward_locked: store_view_tko 3 index 0 always 0",
      "softmax: store_view_tko 1 index 1 always 0",
  };
  return all;
}

TEST(PlantedFaults, EachIsReportedWithItsPlace) {
  std::set<std::string> survivors;
  int reported = 0;
  for (const Sound& sound : sound_programs())
    for (const Fault& fault : Planter(text_of(sound)).faults) {
      const std::string message = found(sound, fault.text, sound.grid);
      const std::string name = name_of(sound) + ": " + fault.what;
      if (message.empty()) {
        survivors.insert(name);
        continue;
      }
      ++reported;
      if (fault.of_place) {
        EXPECT_THAT(message, HasSubstr(fmt::format("t:{}:", fault.line))) << name;
      } else {
        EXPECT_THAT(message, AnyOf(HasSubstr("expected an order by"), HasSubstr("a deadlock"))) << name;
      }
    }
  EXPECT_EQ(survivors, no_faults());
  EXPECT_GT(reported, 80);
}

/// Each block runs twice. A block that stores without a lock stores where its twin does.
TEST(PlantedFaults, BlocksThatAreTwice) {
  for (const Sound& sound : sound_programs()) {
    if (name_of(sound) == "mutex" || name_of(sound) == "locked_sum") continue;
    EXPECT_THAT(found(sound, text_of(sound), {sound.grid[0], sound.grid[1], 2}),
                AllOf(HasSubstr("expected an order by release and acquire"), HasSubstr("store_")))
        << sound.file;
  }
}

/// A sum or a maximum includes elements that nobody wrote: a view without padding is read beyond its array.
TEST(PlantedFaults, APaddingLeftOutShowsAsPoison) {
  const std::vector<Sound> all = {{"softmax",
                                   {3, 1, 1},
                                   [](Launcher& launcher) {
                                     add_matrices(launcher, {"x", "y"}, DType::f32, 3, 40);
                                   }},
                                  {"chunked_softmax",
                                   {2, 1, 1},
                                   [](Launcher& launcher) {
                                     add_matrices(launcher, {"x", "y"}, DType::f32, 2, 40);
                                   }},
                                  {"matmul",
                                   {2, 2, 1},
                                   [](Launcher& launcher) {
                                     add_matrices(launcher, {"a"}, DType::bf16, 32, 24);
                                     add_matrices(launcher, {"b"}, DType::bf16, 24, 64);
                                     add_matrices(launcher, {"c"}, DType::f32, 32, 64);
                                   }},
                                  {"column_sums", {2, 1, 1}, [](Launcher& launcher) {
                                     add_matrices(launcher, {"x"}, DType::f32, 5, 64);
                                     launcher.add("y", DType::f32, {64});
                                   }}};
  for (const Sound& sound : all) {
    const std::string text = text_of({"experiments/tile/exported/" + sound.file + ".tileirbc", {}, {}});
    const std::string without = std::regex_replace(text, std::regex("padding_value = \\w+, "), "");
    EXPECT_NE(without, text) << sound.file;
    for (const auto& [program, poisoned] : {std::pair{text, false}, {without, true}}) {
      Launcher launcher;
      sound.prepare(launcher);
      launcher.launch.poison = true;
      launcher.run(read_program(program, "t"), sound.grid);
      const Array& result = launcher.arrays.back();
      EXPECT_EQ(std::isnan(result.number(0)), poisoned) << sound.file;
    }
  }
}

}  // namespace
}  // namespace deplo::ir::tile_program
