// Child processes: their arguments, their end, and non-blocking reads and writes on pipes and sockets to them.
#pragma once
#include <sys/types.h>

#include <array>
#include <span>
#include <string>
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
/// Sends what the socket accepts now, and removes it from `outgoing`. Clears `outgoing` if the other end no longer
/// reads; what the other end wrote before can still be read.
void send_some(int socket, std::string& outgoing);

}  // namespace deplo
