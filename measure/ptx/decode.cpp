#include "measure/ptx/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/error.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "ir/hardware/gpu.h"
#include "measure/ptx/address.h"
#include "measure/ptx/floats.h"
#include "measure/ptx/instructions/table.h"
#include "measure/ptx/text/inline_calls.h"
#include "measure/ptx/text/parser.h"
#include "measure/ptx/warp/place.h"
#include "measure/ptx/warp/special_registers.h"

namespace deplo::measure::ptx {
namespace {

/// Returns the value of a key; null if there is none.
template <class T>
const T* value_of(const std::map<std::string, T>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

class Names {
 public:
  struct Place {
    RegisterPlace place = 0;
    int bits = 0;
  };

  Names(Program& program, const Module& module, const Function& function) : program_(program), function_(function) {
    const Place truth = allocate(1);
    program_.presets.push_back({truth.place, 1, 1});
    for (const Register& r : function.registers) registers_[r.name] = allocate(r.bits);
    for (const Statement& s : function.statements) {
      count(s.operands);
      if (!s.guard.empty()) ++occurrences_[s.guard];
    }
    place_parameters(function);
    place_shared(module, function);
    std::uint64_t local_end = 0;
    for (const Variable& v : function.variables)
      if (v.space == Space::local || v.space == Space::param) place(v, local_end);
    program_.local_bytes = aligned(local_end, 16);
    for (const auto* variables : {&module.variables, &function.variables}) {
      for (const Variable& v : *variables) {
        if (v.space != Space::global) continue;
        addresses_[v.name] = global_address(first_module_variable + program_.globals.size());
        program_.globals.push_back(v);
      }
    }
  }

  Place allocate(int bits) {
    const Place place{program_.register_bytes, bits};
    program_.register_bytes +=
        bits == 1 ? slot_bytes : slot_bytes * static_cast<std::uint32_t>(std::max(bits, 16)) / 16;
    return place;
  }
  const Place* find_register(const std::string& name) const { return value_of(registers_, name); }
  const Place* find_special(const std::string& name) {
    if (const auto found = specials_.find(name); found != specials_.end()) return &found->second;
    const Special value = find_special_register(name);
    if (value == nullptr) return nullptr;
    const Place place = allocate(32);
    program_.specials.push_back({place.place, value});
    return &(specials_[name] = place);
  }
  const std::uint64_t* find_address(const std::string& name) const { return value_of(addresses_, name); }
  const std::size_t* find_label(const std::string& name) const { return value_of(function_.labels, name); }
  RegisterPlace constant(std::uint64_t value, int bits) {
    if (bits < 64) value &= (std::uint64_t{1} << bits) - 1;
    const auto [found, is_new] = constants_.try_emplace({value, bits}, 0);
    if (is_new) {
      found->second = allocate(bits).place;
      program_.presets.push_back({found->second, std::max(bits, bits == 1 ? 1 : 16), value});
    }
    return found->second;
  }
  /// Number of operands and guards of the kernel that use the name.
  int occurrences(const std::string& name) const {
    const int* const found = value_of(occurrences_, name);
    return found == nullptr ? 0 : *found;
  }
  bool is_parameter(const std::string& name) const {
    return std::ranges::any_of(program_.parameters, [&](const Variable& v) { return v.name == name; });
  }

 private:
  void place_parameters(const Function& function) {
    program_.parameters = function.parameters;
    for (const Variable& v : function.parameters) {
      const std::uint64_t offset = aligned(program_.parameter_bytes, v.align);
      program_.parameter_offsets.push_back(offset);
      addresses_[v.name] = param_start + offset;
      program_.parameter_bytes = offset + v.size;
    }
  }

  // Places static arrays in the order of their declarations, and then the dynamic shared memory of the launch (".extern
  // .shared"). Like ptxas, throws Error if the static arrays that the kernel uses are too large.
  void place_shared(const Module& module, const Function& function) {
    constexpr std::uint64_t max_static = ir::gpu::static_shared_bytes;
    std::uint64_t end = 0, used = 0;
    for (const auto* variables : {&module.variables, &function.variables})
      for (const Variable& v : *variables) {
        if (v.space != Space::shared || v.size == 0) continue;
        place(v, end);
        if (occurrences(v.name) > 0) used += v.size;
      }
    if (used > max_static)
      throw Error(
          fmt::format("expected at most {} bytes of static shared memory in '{}', found {}; larger arrays must "
                      "be dynamic (extern __shared__)",
                      max_static, function.name, used));
    program_.shared_bytes = end;
    for (const Variable& v : module.variables) {
      if (v.space != Space::shared || v.size > 0) continue;
      program_.dynamic_shared = true;
      program_.shared_bytes = std::max(program_.shared_bytes, aligned(end, std::max<std::uint64_t>(v.align, 16)));
    }
    for (const Variable& v : module.variables)
      if (v.space == Space::shared && v.size == 0) addresses_[v.name] = shared_start + program_.shared_bytes;
  }

  void place(const Variable& v, std::uint64_t& end) {
    end = aligned(end, v.align);
    addresses_[v.name] = (v.space == Space::shared ? shared_start : local_start) + end;
    end += v.size;
  }

  void count(const std::vector<Operand>& operands) {
    for (const Operand& o : operands) {
      if (!o.name.empty()) ++occurrences_[o.name];
      count(o.parts);
    }
  }

  Program& program_;
  const Function& function_;
  std::map<std::string, Place> registers_, specials_;
  std::map<std::string, std::uint64_t> addresses_;
  std::map<std::string, int> occurrences_;
  std::map<std::pair<std::uint64_t, int>, RegisterPlace> constants_;
};

int type_bits(std::string_view type) {
  if (type == "f16x2" || type == "bf16x2" || type == "tf32") return 32;
  return type == "bf16" ? 16 : plain_type_bits(type);
}

Binder::Binder(Program& program, Names& names, const Statement& statement, std::vector<std::string_view> words,
               Instruction& instruction)
    : program_(program), names_(names), statement_(statement), words_(std::move(words)), instruction_(instruction) {}

bool Binder::has(std::string_view word) const { return std::ranges::find(words_, word) != words_.end(); }

void Binder::fail(const std::string& expected) const {
  throw Error(fmt::format("{}: {}: expected {}", place_of(statement_), statement_.opcode, expected));
}

void Binder::expect_operands(std::size_t min, std::size_t max) const {
  if (operands() < min || operands() > max)
    fail(min == max ? fmt::format("{} operands, found {}", min, operands())
                    : fmt::format("{} to {} operands, found {}", min, max, operands()));
}

const Operand& Binder::operand(std::size_t i) const {
  if (i >= operands()) fail(fmt::format("at least {} operands, found {}", i + 1, operands()));
  return statement_.operands[i];
}

std::vector<Operand> Binder::elements(std::size_t i) const {
  const Operand& o = operand(i);
  return o.kind == Operand::Kind::list ? o.parts : std::vector{o};
}

RegisterPlace Binder::read(const Operand& o, int bits) {
  bits = std::max(bits, bits == 1 ? 1 : 16);
  if (o.kind == Operand::Kind::number) {
    if (o.float_bits == 64 && bits == 32)
      return constant(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))), bits);
    return constant(o.bits, bits);
  }
  if (o.kind != Operand::Kind::name) fail("a register or a number");
  if (o.negated) fail("an operand without '!'");
  const Names::Place* place = names_.find_register(o.name);
  if (place == nullptr) place = names_.find_special(o.name);
  if (place != nullptr) {
    if (place->bits != bits) fail(fmt::format("an operand of {} bits, found {} of {}", bits, o.name, place->bits));
    if (program_.has_wgmma && bits >= 32) detail().reads.push_back(place->place);
    return place->place;
  }
  const std::uint64_t* const address = names_.find_address(o.name);
  if (address == nullptr) fail(fmt::format("a register or a variable, found '{}'", o.name));
  return constant(*address, bits);
}

RegisterPlace Binder::write(const Operand& o, int bits) {
  bits = std::max(bits, bits == 1 ? 1 : 16);
  if (o.kind == Operand::Kind::sink) return names_.allocate(bits).place;
  const Names::Place* const place = o.kind == Operand::Kind::name ? names_.find_register(o.name) : nullptr;
  if (place == nullptr) fail("a register");
  if (place->bits != bits) fail(fmt::format("a register of {} bits, found {} of {}", bits, o.name, place->bits));
  if (program_.has_wgmma && bits >= 32) detail().writes.push_back(place->place);
  return place->place;
}

void Binder::registers(int result, std::initializer_list<int> bits) {
  expect_operands(1 + bits.size(), 1 + bits.size());
  instruction_.d = write(0, result);
  const std::array places{&instruction_.a, &instruction_.b, &instruction_.c, &instruction_.e};
  for (std::size_t i = 0; i < bits.size(); ++i) *places.at(i) = read(i + 1, std::data(bits)[i]);
}

bool Binder::is_unused(const Operand& o) const {
  return o.kind == Operand::Kind::sink || (o.kind == Operand::Kind::name && names_.occurrences(o.name) == 1);
}

int Binder::bits_of(const Operand& o, int bits) const {
  const Names::Place* const place = o.kind == Operand::Kind::name ? names_.find_register(o.name) : nullptr;
  const int own = place != nullptr ? place->bits : std::max(bits, 16);
  if (own < bits || own == 1) fail(fmt::format("a register of at least {} bits, found {}", bits, o.name));
  return own;
}

void Binder::address(const Operand& o) {
  if (o.kind != Operand::Kind::address) fail("an address in [ ]");
  instruction_.number = static_cast<std::int64_t>(o.bits);
  instruction_.size_of_address = 8;
  if (o.name.empty()) {
    instruction_.a = constant(0, 64);
  } else if (const Names::Place* const place = names_.find_register(o.name)) {
    if (place->bits != 32 && place->bits != 64) fail("an address of 32 or 64 bits");
    instruction_.size_of_address = static_cast<std::uint8_t>(place->bits / 8);
    instruction_.a = place->place;
    if (program_.has_wgmma) detail().reads.push_back(place->place);
  } else if (const std::uint64_t* const address = names_.find_address(o.name)) {
    instruction_.a = constant(*address, 64);
    // The argument of a call is a local variable of the thread.
    if (instruction_.space == Space::param && !names_.is_parameter(o.name)) instruction_.space = Space::local;
  } else {
    fail(fmt::format("a register or a variable, found '{}'", o.name));
  }
}

std::int64_t Binder::integer(std::size_t i) const {
  const Operand& o = operand(i);
  if (o.kind != Operand::Kind::number || o.float_bits != 0) fail("a number");
  return static_cast<std::int64_t>(o.bits);
}

RegisterPlace Binder::constant(std::uint64_t value, int bits) { return names_.constant(value, bits); }

void Binder::label(std::size_t i) {
  const std::size_t* const label = names_.find_label(operand(i).name);
  if (label == nullptr) fail(fmt::format("a label, found '{}'", operand(i).name));
  instruction_.target = static_cast<std::uint32_t>(*label);
}

Detail& Binder::detail() {
  if (instruction_.detail == nullptr) instruction_.detail = &program_.details.emplace_back();
  return program_.details.back();
}

namespace {

void bind(Program& program, Names& names, const Statement& statement, Instruction& instruction) {
  std::vector<std::string_view> words = split_at(statement.opcode, '.');
  const bool small = words.back().ends_with("8") || words.back().ends_with("16");
  if (small && !statement.opcode.starts_with("ldmatrix") && !statement.opcode.starts_with("mma"))
    program.granule = std::min<std::size_t>(program.granule, words.back().ends_with("16") ? 2 : 1);
  const Row* row = find_row(words);
  if (program.exact && row != nullptr && computes_with_floats(words)) {
    row = find_exact_row(words);
    if (row == nullptr)
      throw Unproved(fmt::format("PTX line {}: {} has no meaning but in numbers", statement.line, statement.opcode));
  } else if (program.exact && row == nullptr) {
    row = find_exact_row(words);
  }
  if (row == nullptr)
    throw Error(fmt::format("{}: the PTX machine does not execute {}", place_of(statement), statement.opcode));
  Binder binder(program, names, statement, std::move(words), instruction);
  if (!statement.guard.empty()) {
    const Names::Place* const guard = names.find_register(statement.guard);
    if (guard == nullptr || guard->bits != 1) binder.fail(fmt::format("a predicate, found '{}'", statement.guard));
    instruction.guard = guard->place;
    instruction.guard_flip = statement.guard_negated ? all_lanes : 0;
  }
  row->bind(binder);
  CHECK(instruction.run != nullptr);
}

/// Returns how the mangled name of an entry starts. Itanium C++ ABI, "External Names": "k" becomes "_Z", the length of
/// the name and the name; "space::k" becomes "_ZN", each part in this form, and "E" at the end. The parameters follow.
/// In an instance of a template, "I" and the arguments follow the name.
std::string mangled_start(const std::string& entry) {
  std::string_view plain = std::string_view(entry).substr(0, entry.find('<'));
  const bool is_template = plain.size() < entry.size(), is_nested = plain.find("::") != std::string_view::npos;
  std::string mangled = is_nested ? "_ZN" : "_Z";
  for (;;) {
    const std::size_t end = plain.find("::");
    // the part before "::" in "::k", the global namespace, is empty
    if (const std::string_view part = plain.substr(0, end); !part.empty())
      mangled += fmt::format("{}{}", part.size(), part);
    if (end == std::string_view::npos) break;
    plain.remove_prefix(end + 2);
  }
  return mangled + (is_template ? "I" : is_nested ? "E" : "");
}

const Function& find_entry(const Module& module, const std::string& entry) {
  if (entry.empty() && module.functions.size() == 1) return module.functions[0];
  const std::string mangled = mangled_start(entry);
  std::vector<const Function*> meant;
  std::vector<std::string> all, several;
  for (const Function& f : module.functions) {
    if (f.name == entry) return f;
    all.push_back(f.name);
    if (entry.empty() || !f.name.starts_with(mangled)) continue;
    meant.push_back(&f);
    several.push_back(f.name);
  }
  if (meant.size() == 1) return *meant[0];
  if (!meant.empty())
    throw Error(fmt::format("expected the name of one of the entries '{}' in the PTX: {}", entry, join(several, ", ")));
  if (all.empty()) throw Error("expected a kernel (a __global__ function), found none");
  const std::string found = join(all, ", ");
  throw Error(entry.empty() ? fmt::format("expected the name of an entry, found {} in the PTX", found)
                            : fmt::format("expected the entry '{}' in the PTX, found {}", entry, found));
}

}  // namespace

Program decode(const Module& module, const std::string& entry, Values values) {
  const Function function = inline_calls(module, find_entry(module, entry));
  Program program;
  program.exact = values == Values::exact;
  program.entry = function.name;
  program.target = module.target;
  program.max_threads = function.max_threads;
  program.least_blocks = function.least_blocks;
  program.cluster = std::max<std::int64_t>(function.cluster, 1);
  program.statements = function.statements;
  Statement end;  // reaching the end of the text ends a thread, too
  end.opcode = "ret";
  end.line = function.statements.empty() ? function.line : function.statements.back().line;
  program.statements.push_back(end);
  program.has_wgmma = std::ranges::any_of(function.statements,
                                          [](const Statement& s) { return s.opcode.starts_with("wgmma.mma_async"); });
  Names names(program, module, function);
  program.code.resize(program.statements.size());
  for (std::size_t i = 0; i < program.code.size(); ++i) bind(program, names, program.statements[i], program.code[i]);
  constexpr std::uint32_t max_register_bytes = 1U << 28;
  if (program.register_bytes > max_register_bytes) throw Error("expected fewer registers in the PTX");
  return program;
}

}  // namespace deplo::measure::ptx
