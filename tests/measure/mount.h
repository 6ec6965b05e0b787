// A file system of a given size, for a test.
#pragma once
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "measure/store_fixture.h"

namespace deplo::measure {

/// A new tmpfs, which is unmounted at the end of the test.
class Mount {
 public:
  explicit Mount(const std::string& size) {
    mounted_ = mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~Mount() {
    if (mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  bool mounted() const { return mounted_; }
  bool make_read_only() const {
    return mount(nullptr, folder_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  /// Fills the file system until not a byte is left.
  void fill() const {
    std::ofstream filler(file("filler"), std::ios::binary);
    const std::string kilobyte(1024, 'x');
    while (filler << kilobyte && filler.flush()) {
    }
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
};

}  // namespace deplo::measure
