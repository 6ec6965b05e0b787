// The texts of the small statements of Tile and Kernel IR. A form says which words and parts a statement has, in order:
// the parser reads by it (parse_forms.cpp), and the printer prints by it (print.cpp). Private to ir/text.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "ir/stmt.h"
#include "ir/text/terms.h"

namespace deplo::ir::text {

/// Whether T is S, const or not: the parser fills a statement, and the printer has a const one.
template <class T, class S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

// Each form begins with the statement's keyword. io("word", part) reads or prints words and parts of types that have
// one form. The methods of `io` do so for the other parts. They take what the parser needs to know: what a message
// calls a name, and the bounds of a number. io.given(words, is_given) says whether an optional part is there, and reads
// or prints the words before it. A body follows after the form.

void form(Is<Prefetch> auto& s, auto& io) {
  io("Prefetch("), io.element(s.buffer, s.index), io.flag(", write", s.write), io(")"), io.flag(" level2", s.level2);
}
void form(Is<AsyncWait> auto& s, auto& io) {
  io("AsyncWait(keep="), io.number(s.keep, 0, 64);
  if (io.given(", phase=", !s.phase.is_constant(0) || !s.slot.is_constant(0))) io(s.phase, ", slot=", s.slot);
  io(")");
}
void form(Is<Combine> auto& s, auto& io) {
  io("Combine("), io.name(s.acc, "an accumulator"), io(", op=", s.op, ", over=("), io.list(s.over, ")");
  if (io.given(", to=", s.to.has_value())) io.expression(s.to);
  io(")");
}

void form(Is<Smem> auto& s, auto& io) {
  io("Smem "), io.new_name(s.buffer, "a buffer"), io("["), io.list(s.shape, "]"), io(" ("), io.dtype(s.dtype), io(")");
  io.option("align", s.align, Smem{}.align, 1 << 16), io.flag(" registers", s.registers);
}
void form(Is<Init> auto& s, auto& io) {
  io("Init("), io.new_name(s.acc, "an accumulator"), io.type(s.type), io(", op=", s.op, ")");
}
void form(Is<Sync> auto&, auto& io) { io("Sync"); }
void form(Is<TreeHalve> auto& s, auto& io) {
  io("TreeHalve("), io.name(s.buffer, "a buffer");
  if (io.given("[", !s.prefix.empty())) io.list(s.prefix, "]");
  io(", op=", s.op, ", length="), io.number(s.length, 1, max_extent, "a length"), io(", tid=", s.tid, ")");
}
void form(Is<WarpShuffle> auto& s, auto& io) {
  io("WarpShuffle("), io.new_name(s.dst, "a value"), io.type(s.type), io(" <- "), io.name(s.value, "a value");
  io(", op=", s.op, ", length="), io.number(s.length, 1, 1024), io(")");
}

void form(Is<LdMatrix> auto& s, auto& io) {
  io("LdMatrix("), io.new_name(s.dst, "a value"), io.type(s.type), io(" <- "), io.element(s.buffer, s.index);
  io.flag(", transposed", s.transposed), io(")");
}
void form(Is<Pack> auto& s, auto& io) {
  io("Pack("), io.new_name(s.dst, "a value"), io.type(s.type), io(" <- "), io.names(s.values, "a value"), io(")");
}
void form(Is<QuadTranspose> auto& s, auto& io) {
  io("QuadTranspose("), io.new_name(s.dst, "a value"), io.type(s.type), io(" <- "), io.names(s.values, "a value");
  io(")");
}
void form(Is<Mma> auto& s, auto& io) {
  io("Mma("), io.names(s.sums, "an accumulator"), io(" <- "), io.name(s.a, "a value"), io(", ");
  io.name(s.b, "a value"), io(", part="), io.number(s.part, 0, 2), io(", atom=");
  io.name(s.atom, "a matrix instruction"), io(")");
}
void form(Is<CopyPairs> auto& s, auto& io) {
  io("CopyPairs("), io.element(s.buffer, s.index), io(", "), io.element(s.source, s.at), io(", dim=");
  io.number(s.dim, 0, 64), io(")");
}
void form(Is<CopyTransposed> auto& s, auto& io) {
  io("CopyTransposed("), io.element(s.buffer, s.index), io(", "), io.element(s.source, s.at), io(", dim=");
  io.number(s.dim, 0, 64), io(", size="), io.number(s.size, 1, 16), io(")");
}
void form(Is<DotPairs> auto& s, auto& io) {
  io("DotPairs("), io.name(s.acc, "an accumulator"), io(" <- "), io.element(s.a, s.at_a), io(", ");
  io.element(s.b, s.at_b), io(")");
}

void form(Is<SharedMatrix> auto& m, auto& io) {
  io.element(m.buffer, m.index), io.flag(" transposed", m.transposed), io(" swizzle="), io.number(m.swizzle, 0, 128);
  io.option("leading", m.leading, 0, 1 << 18);
}
void form(Is<Wgmma> auto& s, auto& io) {
  io("Wgmma("), io.names(s.sums, "an accumulator"), io(" <- "), io.fragment_or_matrix(s.a), io(", "), form(s.b, io);
  io(", atom="), io.name(s.atom, "a matrix instruction"), io(")");
}
void form(Is<WgmmaFence> auto& s, auto& io) {
  io("WgmmaFence("), io.names(s.sums, "an accumulator");
  if (io.given(" <- ", !s.fragments.empty())) io.names(s.fragments, "a value");
  io(")");
}
void form(Is<WgmmaCommit> auto&, auto& io) { io("WgmmaCommit"); }
void form(Is<WgmmaWait> auto& s, auto& io) {
  io("WgmmaWait(keep="), io.number(s.keep, 0, 7);
  if (io.given(", ", !s.sums.empty())) io.names(s.sums, "an accumulator");
  io(")");
}

void form(Is<ClusterSync> auto&, auto& io) { io("ClusterSync"); }
void form(Is<ClusterLoad> auto& s, auto& io) {
  io("ClusterLoad("), io.new_name(s.dst, "a value"), io.type(s.type), io(" <- "), io.element(s.buffer, s.index);
  io(", block=", s.block, ")");
}

void form(Is<CpAsyncCopy> auto& s, auto& io) {
  io("CpAsyncCopy("), io.element(s.buffer, s.index), io(", "), io.element(s.source, s.at), io(", lanes=");
  io.number(s.lanes, 1, 16), io(")");
}
void form(Is<CpAsyncCommit> auto&, auto& io) { io("CpAsyncCommit"); }
void form(Is<CpAsyncWait> auto& s, auto& io) { io("CpAsyncWait(keep="), io.number(s.keep, 0, 64), io(")"); }

void form(Is<ProxyFence> auto&, auto& io) { io("ProxyFence"); }
void form(Is<MbarrierInit> auto& s, auto& io) {
  io("MbarrierInit "), io.new_name(s.barrier, "a barrier"), io("["), io.number(s.slots, 1, 64, "a number of barriers");
  io("] (count="), io.number(s.count, 1, 1024), io(")");
}
void form(Is<MbarrierArriveExpectTx> auto& s, auto& io) {
  io("MbarrierArriveExpectTx("), io.name(s.barrier, "a barrier"), io("[", s.slot, "], bytes=");
  io.number(s.bytes, 0, max_extent), io(")");
}
void form(Is<MbarrierArrive> auto& s, auto& io) {
  io("MbarrierArrive("), io.name(s.barrier, "a barrier"), io("[", s.slot, "]");
  if (io.given(", block=", s.block.has_value())) io.expression(s.block);
  io(")");
}
void form(Is<MbarrierWait> auto& s, auto& io) {
  io("MbarrierWait("), io.name(s.barrier, "a barrier"), io("[", s.slot, "], phase=", s.phase, ")");
}

void form(Is<TmaDescriptor> auto& s, auto& io) {
  io("TmaDescriptor "), io.new_name(s.name, "a descriptor"), io("("), io.name(s.source, "a buffer"), io(", box=(");
  io.list(s.box, ")"), io(")"), io.option("swizzle", s.swizzle, 0, 128);
}
void form(Is<TmaLoad> auto& s, auto& io) {
  io("TmaLoad("), io.element(s.buffer, s.index), io(", "), io.element(s.descriptor, s.coordinates), io(", ");
  io.name(s.barrier, "a barrier"), io("[", s.slot, "]"), io.flag(", multicast", s.multicast), io(")");
}

void form(Is<Produce> auto& s, auto& io) {
  io("Produce(threads="), io.number(s.threads, 1, 1024);
  if (io.given(", own=", s.own != 0)) io.number(s.own, 1, 255), io(", others="), io.number(s.others, 1, 255);
  io("):");
}

void form(Is<Constant> auto& s, auto& io) {
  io("Constant("), io.new_name(s.dst, "a value"), io.type(s.dtype), io(" <- bits "), io.bits(s.bits), io(")");
}
void form(Is<Get> auto& s, auto& io) {
  io("Get("), io.new_name(s.dst, "a value"), io.type(s.dtype), io(" <- "), io.name(s.array, "an array");
  io("[", s.index, "])");
}
void form(Is<Put> auto& s, auto& io) {
  io("Put("), io.name(s.array, "an array"), io("[", s.index, "] <- "), io.name(s.value, "a value"), io(")");
}
void form(Is<Address> auto& s, auto& io) {
  io("Address("), io.new_name(s.dst, "a value"), io(" <- "), io.name(s.buffer, "a buffer"), io(")");
}
void form(Is<LoadAt> auto& s, auto& io) {
  io("LoadAt("), io.new_name(s.dst, "a value"), io.type(s.dtype), io(" <- "), io.name(s.address, "an address");
  io.flag(", strong", s.strong), io(")");
}
void form(Is<StoreAt> auto& s, auto& io) {
  io("StoreAt("), io.name(s.address, "an address"), io.type(s.dtype), io(" <- "), io.name(s.value, "a value");
  io.flag(", strong", s.strong), io(")");
}
void form(Is<Forever> auto&, auto& io) { io("Forever:"); }

template <class S>
concept HasForm = requires(S& s, int& io) {
  form(s, io);
};

}  // namespace deplo::ir::text
