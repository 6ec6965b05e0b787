// Reading whole files, and where the project's own data files are.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deplo {

/// The bytes of a file, at most 64 MiB. Throws Error in one line when it cannot be read.
std::string read_file(const std::filesystem::path& file);

/// Where `configs` and `experiments` are: share/deplo of the prefix that this code is installed in (as a program, or as
/// libdeplo.so of another program), else the source folder it was built from.
const std::filesystem::path& data_folder();
/// Whether this code is in libdeplo.so: then the process, its environment included, is somebody else's.
bool is_library();
/// The program whose `worker` command measures: the running one, or, of libdeplo.so, the `deplo` of its prefix. Throws
/// Error(environment) where there is none.
std::filesystem::path worker_program();
/// A path as the user wrote it, if it exists; else below data_folder(), if it exists there; else as written.
std::filesystem::path find_data(const std::filesystem::path& path);
/// Names (without extension, sorted) of the files with that extension in a folder below data_folder(). Throws
/// Error(environment) if the folder cannot be read.
std::vector<std::string> list_data(std::string_view folder, std::string_view extension);

}  // namespace deplo
