// Shared by tests of the store: a temporary folder, records, an integrity check.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "measure/sqlite/sqlite.h"
#include "measure/store/store.h"

namespace deplo::measure {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "deplo_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline DeviceInfo some_device() {
  return {.backend = "opencl",
          .name = "cpu",
          .vendor = "v",
          .driver = "3.1",
          .platform = "p",
          .units = 2,
          .clock_mhz = 2500,
          .shared_bytes = 1 << 20,
          .max_threads = 4096,
          .cpu = true};
}

struct Ids {
  std::int64_t device, run, kernel;
};
inline Ids add_context(Store& store) {
  const std::int64_t device = store.add_device(some_device());
  const std::int64_t run = store.add_run({.device = device,
                                          .revision = "v0.1",
                                          .config = "kernels: []",
                                          .searcher = "mcts",
                                          .seed = ~0ULL,
                                          .host = "here"});
  return {device, run, store.add_kernel({"matmul 4x4x4", "=== loop: matmul ===\n"})};
}

inline TrialRecord some_trial(const Ids& ids, std::int64_t ordinal, std::string trail, double median_us) {
  TrialRecord trial;
  trial.run = ids.run;
  trial.ordinal = ordinal;
  trial.kernel = ids.kernel;
  trial.trail = std::move(trail);
  trial.digest = "d41d8cd98f00b204e9800998ecf8427e";
  trial.status = Status::ok;
  trial.build_ms = 12.5;
  trial.timing.median_us = median_us;
  trial.timing.fidelity = 1;
  trial.timing.samples = {median_us, median_us * 1.1, 0.1};
  trial.protocol = "p1";
  return trial;
}

inline bool is_intact(const std::string& file) {
  sqlite::Database database(file);
  return database.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1 &&
         database.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0;
}

/// Opens the store. Returns the exit code of the Error that this throws, or 0 if it succeeds. `message`: set to the
/// error's text, which must be one line.
inline int exit_of_open(const std::string& file, std::string& message) {
  try {
    Store::open(file);
  } catch (const Error& error) {
    message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return static_cast<int>(error.exit());
  }
  message.clear();
  return 0;
}

}  // namespace deplo::measure
