// The statements of Kernel IR for programs that state what a whole block does (NVIDIA's Tile IR); rules/blocks lowers
// such programs block by block. The values are scalars of any element type. Integers are signless: each operation says
// how it reads them. A pointer is the address of an element in global memory, an i64.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "ir/loop.h"
#include "ir/parts.h"
#include "ir/tile_program/operations.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// dst = the value with these bits.
struct Constant {
  std::string dst;
  DType dtype = DType::i32;
  std::uint64_t bits = 0;
  static void parts(auto& s, auto& see) { see(Use::defines, s.dst); }
  bool operator==(const Constant&) const = default;
};

/// dst = op(args): an elementwise operation of Tile IR (tile_program::is_elementwise), on scalars.
struct Compute {
  std::string dst;
  DType dtype = DType::i32;
  const tile_program::Form* op = nullptr;
  std::vector<std::int64_t> numbers;  // the attributes, in the form's order: tile_program::Operation::number
  std::vector<std::string> args;
  /// Returns the attribute of this name. CHECKs that the form has it.
  std::int64_t number(std::string_view attribute) const;
  static void parts(auto& s, auto& see) { see(Use::value, s.args), see(Use::defines, s.dst); }
  bool operator==(const Compute&) const = default;
};

/// The place of a Local's elements: each thread's own registers or stack; the block's shared memory; or the block's
/// part of the global buffer `scratch_buffer`, for elements that shared memory does not hold.
enum class Space : std::uint8_t { thread, shared, scratch };
inline constexpr const char* scratch_buffer = "scratch_memory";

/// Declares `count` elements. In shared or scratch memory they begin `offset` bytes after its beginning. Two
/// declarations may share memory if a Sync lies between the last use of one and the first use of the other. Elements
/// are undefined until a Put.
struct Local {
  std::string array;
  DType dtype = DType::i32;
  std::int64_t count = 1;
  Space space = Space::thread;
  std::int64_t offset = 0;
  static void parts(auto& s, auto& see) { see(Use::declares, s.array); }
  bool operator==(const Local&) const = default;
};
/// Bytes to which memory of Locals is aligned: the widest access of a thread.
inline constexpr std::int64_t local_alignment = 16;
/// Bytes per element of a Local in shared or scratch memory. An element of a 4-bit type takes a whole byte.
std::int64_t local_bytes(DType);

/// An array of constants, given by their bits.
struct Table {
  std::string array;
  DType dtype = DType::i32;
  std::vector<std::uint64_t> bits;
  static void parts(auto& s, auto& see) { see(Use::declares, s.array); }
  bool operator==(const Table&) const = default;
};

/// dst = array[index], of a Local or a Table.
struct Get {
  std::string dst;
  DType dtype = DType::i32;
  std::string array;
  Expr index;
  static void parts(auto& s, auto& see) { see(Use::reads, s.array), see(s.index), see(Use::defines, s.dst); }
  bool operator==(const Get&) const = default;
};
/// array[index] = value.
struct Put {
  std::string array;
  Expr index;
  std::string value;
  static void parts(auto& s, auto& see) { see(Use::writes, s.array), see(s.index), see(Use::value, s.value); }
  bool operator==(const Put&) const = default;
};

/// dst = the address of the buffer's first element.
struct Address {
  std::string dst, buffer;
  static void parts(auto& s, auto& see) { see(Use::refers, s.buffer), see(Use::defines, s.dst); }
  bool operator==(const Address&) const = default;
};

/// dst = the element at an address in global memory. `strong`: other blocks may write the element at the same time.
struct LoadAt {
  std::string dst;
  DType dtype = DType::f32;
  std::string address;
  bool strong = false;
  static void parts(auto& s, auto& see) { see(Use::value, s.address), see(Use::defines, s.dst); }
  bool operator==(const LoadAt&) const = default;
};
struct StoreAt {
  std::string address, value;
  DType dtype = DType::f32;
  bool strong = false;
  static void parts(auto& s, auto& see) { see(Use::value, s.address), see(Use::value, s.value); }
  bool operator==(const StoreAt&) const = default;
};

/// A read-modify-write of the element at the address, which no other access interrupts. dst = the element before the
/// operation. With a `mode`, the element becomes mode(element, args[0]). Without a mode (compare and swap), it becomes
/// args[1] if its bits equal the bits of args[0].
struct Atomic {
  std::string dst;
  DType dtype = DType::i32;
  std::optional<tile_program::Rmw> mode;
  std::string address;
  std::vector<std::string> args;
  tile_program::Scope scope = tile_program::Scope::device;  // the threads for which the access is atomic
  static void parts(auto& s, auto& see) {
    see(Use::value, s.address), see(Use::value, s.args), see(Use::defines, s.dst);
  }
  bool operator==(const Atomic&) const = default;
};
/// For all threads of the scope, the thread's accesses to global memory before the fence precede those after it.
struct Fence {
  tile_program::Scope scope = tile_program::Scope::device;
  static void parts(auto&, auto&) {}
  bool operator==(const Fence&) const = default;
};

/// Executes the body if the value is not 0 (or, with `otherwise`, if it is 0). The value is the same in all threads of
/// the block, so the body may contain a Sync.
struct Branch {
  std::string condition;
  bool otherwise = false;
  Body body;
  static void parts(auto& s, auto& see) { see(Use::value, s.condition), see(s.body); }
  bool operator==(const Branch&) const = default;
};
/// Repeats the body until a Jump leaves it.
struct Forever {
  Body body;
  static void parts(auto& s, auto& see) { see(s.body); }
  bool operator==(const Forever&) const = default;
};
/// All threads of the block leave the innermost Forever, begin its body again, or end.
struct Jump {
  enum class To : std::uint8_t { after, next, end };
  To to = To::after;
  static void parts(auto&, auto&) {}
  bool operator==(const Jump&) const = default;
};

/// Prints texts and values in turn, in one call, so that the output of another block cannot come between them.
struct Print {
  struct Piece {
    std::string text;        // or a conversion of printf, such as "%5.2f"; "%": the type of the value decides
    std::string value = {};  // "": the piece is a text
    bool operator==(const Piece&) const = default;
  };
  std::vector<Piece> pieces;
  static void parts(auto& s, auto& see) {
    for (auto& piece : s.pieces)
      if (!piece.value.empty()) see(Use::value, piece.value);
  }
  bool operator==(const Print&) const = default;
};

using BlockStatements = Statements<Constant, Compute, Local, Table, Get, Put, Address, LoadAt, StoreAt, Atomic, Fence,
                                   Branch, Forever, Jump, Print>;

}  // namespace deplo::ir
