#include "runtime/dataset/file_pattern.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

bool IsPattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

// `found` with `component` behind each; of a pattern with each name that matches.
absl::StatusOr<std::vector<std::string>> Descend(const FileSystem& files, const std::vector<std::string>& found,
                                                 const std::string& component) {
  std::vector<std::string> next;
  for (const std::string& folder : found) {
    if (!IsPattern(component)) {
      next.push_back(absl::StrCat(folder, component));
      continue;
    }
    const absl::StatusOr<std::vector<std::string>> names = files.List(folder.empty() ? "." : folder);
    if (absl::IsNotFound(names.status())) continue;  // a file among folders, or none there
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      if (fnmatch(component.c_str(), name.c_str(), FNM_PERIOD) == 0) next.push_back(absl::StrCat(folder, name));
    }
  }
  return next;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandFilePatterns(const FileSystem& files,
                                                            const std::vector<std::string>& patterns) {
  std::vector<std::string> all;
  for (const std::string& pattern : patterns) {
    std::vector<std::string> found = {""};
    if (IsPattern(pattern)) {
      const std::vector<std::string> components = absl::StrSplit(pattern, '/');
      for (size_t i = 0; i < components.size(); ++i) {
        COHORT_ASSIGN_OR_RETURN(found, Descend(files, found, components[i]));
        if (i + 1 == components.size()) continue;
        for (std::string& folder : found) folder += '/';
      }
    } else {
      found = {pattern};
    }
    if (found.empty()) return absl::NotFoundError(absl::StrCat("no file matches '", pattern, "'"));
    std::sort(found.begin(), found.end());
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace cohort
