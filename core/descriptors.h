// Child processes: their arguments, their end, and non-blocking reads and writes on pipes and sockets to them.
#pragma once
#include <sys/types.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deplo {

/// The two ends of a pipe or socket, closed unless taken.
struct Ends {
  std::array<int, 2> ends{-1, -1};
  ~Ends();
  int take(std::size_t end);
};

/// Closes a descriptor when it is destroyed. -1: there is none.
struct Descriptor {
  const int number = -1;
  explicit Descriptor(int open) : number(open) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

/// Returns the words as the null-terminated array of pointers that exec() and posix_spawn() take.
std::vector<char*> pointers(const std::vector<std::string>& words);

/// Returns a text such as "ended with code 3" or "was ended by signal 11 (Segmentation fault)". `status`: of waitpid().
std::string describe_end(int status);

/// Returns the number of bytes read, 0 if the other end is closed, or -1 if there is nothing to read now.
ssize_t read_some(int descriptor, std::span<char> bytes);

/// Bytes that a socket has not taken yet.
class Outgoing {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  std::size_t size() const { return bytes_.size() - sent_; }
  /// Sends what the socket accepts now. Drops all bytes if the other end no longer reads; what the other end wrote
  /// before can still be read.
  void send(int socket);

 private:
  std::string bytes_;
  std::size_t sent_ = 0;  // bytes at the beginning of bytes_ that the socket has taken
};

}  // namespace deplo
