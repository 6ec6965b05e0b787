// Reads whole files, and locates the project's own data files.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deplo {

/// Returns the bytes of a file. Throws an Error of one line if the file cannot be read or is larger than 64 MiB.
std::string read_file(const std::filesystem::path& file);
/// The same without the UTF-8 byte order mark that some editors write at the beginning of a text.
std::string read_text(const std::filesystem::path& file);

/// The folder of `configs` and `experiments`: share/deplo in the prefix where this code is installed (as a program, or
/// as libdeplo.so of another program), else the source folder from which it was built.
const std::filesystem::path& data_folder();
/// Whether this code is in libdeplo.so. Then the process and its environment belong to another program.
bool is_library();
/// The program whose `worker` command measures: the running program, or for libdeplo.so the `deplo` in its prefix.
/// Throws Error(environment) if there is none.
std::filesystem::path worker_program();
/// The path as the user wrote it if it exists, else the path below data_folder() if that exists, else as written.
std::filesystem::path find_data(const std::filesystem::path& path);
/// The sorted names, without the extension, of the files with that extension in a folder below data_folder(). Throws
/// Error(environment) if the folder cannot be read.
std::vector<std::string> list_data(std::string_view folder, std::string_view extension);

}  // namespace deplo
