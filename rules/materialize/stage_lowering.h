// Lowers Stages to shared memory, to the copies that fill it (ordinary copies, cp.async or TMA), and to the waits for
// them. Private to rules/materialize.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "rules/materialize/replication.h"

namespace deplo::rules::materializer {

/// Where the elements of staged buffers are stored.
class StagePlaces {
 public:
  /// Takes the layout of the first Stage of each buffer.
  explicit StagePlaces(const KernelBuilder&);

  /// Returns the physical index of an element: by the layout of the stage, or `index` itself for other buffers.
  std::vector<ir::Expr> place(const std::string& buffer, const std::vector<ir::Expr>& index) const;
  /// Returns the strides of the dimensions of such an index.
  std::vector<std::int64_t> strides(const std::string& buffer) const;
  /// Returns the matrix that begins at an element, as matrix instructions of a warpgroup read it.
  ir::SharedMatrix matrix(const std::string& buffer, const std::vector<ir::Expr>& index, bool transposed) const;
  /// Returns the type of the elements of a stage's buffer.
  ir::DType dtype_of(const std::string& buffer) const { return stages_.at(buffer)->dtype; }
  const std::map<std::string, const ir::Stage*, std::less<>>& stages() const { return stages_; }

 private:
  const KernelBuilder& kernel_;
  std::map<std::string, const ir::Stage*, std::less<>> stages_;
};

/// Fills staged buffers, and waits until they are full or free.
class StageLowering {
 public:
  /// Declares the shared memory and the descriptors of the tile's stages.
  StageLowering(KernelBuilder&, const Replication&);

  /// At the head of the Tile: initialises the barriers that tensor copies report to.
  void initialise(ir::Body& to) const;
  /// In the producer threads: fills the slots of one iteration of a loop with producers. `trip`: the loop's body.
  void produce(const ir::Body& trip, ir::Body& to) const;
  /// In the threads of the block, for such a loop: waits until the iteration's slots are full.
  void wait_until_full(const ir::AsyncWait&, ir::Body& to) const;
  /// In the threads of the block: signals that the thread's warp is done with slot `slot`, if `when` holds.
  void release(const ir::Expr& slot, const ir::Expr& when, ir::Body& to) const;
  /// In the producer threads, after `fills` fills in total: if other blocks free the slots, waits until all of them are
  /// free.
  void wait_until_free(const ir::Expr& fills, ir::Body& to) const;
  bool are_shared() const { return sharers_ > 1; }  // the blocks of a cluster fill each other's slots
  /// Lowers a run of neighbouring Stages (ir::stage_run).
  void fill(std::span<const ir::Stmt> run, ir::Body& to);
  void wait(const ir::AsyncWait&, ir::Body& to) const;
  /// Must be called after a condition, because fills inside it may not have been executed.
  void leave_condition() { ready_in_.reset(); }
  const StagePlaces& places() const { return places_; }

 private:
  void declare(const ir::Stage&);
  bool needs_barrier_before(std::span<const ir::Stmt> run) const;
  void load_boxes(std::span<const ir::Stmt> run, ir::Body& to) const;
  void start_boxes(std::span<const ir::Stmt> run, ir::Body& to) const;
  void load_box(const ir::Stage&, ir::Body& to) const;
  void copy(const ir::Stage&, ir::Body& to);
  ir::Body copy_element(const ir::Stage&, const std::vector<ir::Expr>& to, const std::vector<ir::Expr>& from,
                        int lanes);
  const ir::Buffer& source_of(const ir::Stage& stage) const { return *kernel_.tile_program.find(stage.source); }

  KernelBuilder& kernel_;
  const Replication& replication_;
  StagePlaces places_;
  std::int64_t barriers_ = 0;  // one per slot that tensor copies fill
  std::string barrier_ = "mbar", empty_ = "empty";
  const bool produced_;       // slots are filled by producer threads, which wait at `empty_` until a slot is free
  std::int64_t sharers_ = 1;  // blocks of a cluster that fill each other's slots
  bool async_ = false;        // whether any stage uses cp.async
  bool fenced_ = false;       // whether products of warpgroups read what threads or cp.async have copied
  /// The loops around the last barrier before a fill. In each iteration of these loops all slots were free at that
  /// barrier.
  std::optional<std::vector<std::string>> ready_in_;
};

}  // namespace deplo::rules::materializer
