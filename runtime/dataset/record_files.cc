#include "runtime/dataset/record_files.h"

#include <utility>

#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr int64_t kNotCounted = -1;

class RecordFiles final : public DatasetIterator {
 public:
  RecordFiles(std::vector<std::string> paths, std::vector<TensorSpec> spec, OpenRecordFile open)
      : paths_(std::move(paths)), spec_(std::move(spec)), open_(std::move(open)), counts_(paths_.size(), kNotCounted) {}

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }

  int64_t cardinality() const override {
    int64_t total = 0;
    for (size_t i = 0; i < paths_.size(); ++i) {
      if (counts_[i] == kNotCounted) {
        const absl::StatusOr<std::unique_ptr<RecordFile>> file = open_(paths_[i]);
        if (!file.ok()) return kUnknownCardinality;  // who reads the file gets the error
        const absl::StatusOr<int64_t> count = (*file)->Skip(INT64_MAX);
        if (!count.ok()) return kUnknownCardinality;
        counts_[i] = *count;
      }
      total += counts_[i];
    }
    return total;
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    for (; current_ < paths_.size(); ++current_) {
      if (file_ == nullptr) {
        COHORT_ASSIGN_OR_RETURN(file_, open_(paths_[current_]));
        in_file_ = 0;
      }
      COHORT_ASSIGN_OR_RETURN(const bool more, file_->Next(element));
      if (more) {
        ++in_file_;
        return true;
      }
      Close();
    }
    return false;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    int64_t left = to.element;  // to skip
    if (IsAhead(to)) {
      left -= position().element;
    } else {
      file_ = nullptr;
      current_ = 0;
    }
    while (left > 0 && current_ < paths_.size()) {
      if (file_ == nullptr && counts_[current_] != kNotCounted && counts_[current_] <= left) {
        left -= counts_[current_++];
        continue;
      }
      if (file_ == nullptr) {
        COHORT_ASSIGN_OR_RETURN(file_, open_(paths_[current_]));
        in_file_ = 0;
      }
      COHORT_ASSIGN_OR_RETURN(const int64_t skipped, file_->Skip(left));
      in_file_ += skipped;
      left -= skipped;
      if (left == 0) break;
      Close();
      ++current_;
    }
    return absl::OkStatus();
  }

 private:
  // At the end of the current file.
  void Close() {
    counts_[current_] = in_file_;
    file_ = nullptr;
  }

  const std::vector<std::string> paths_;
  const std::vector<TensorSpec> spec_;
  const OpenRecordFile open_;
  mutable std::vector<int64_t> counts_;  // records of each file, once known
  size_t current_ = 0;
  std::unique_ptr<RecordFile> file_;  // paths_[current_], if open
  int64_t in_file_ = 0;               // records read or skipped in it
};

}  // namespace

std::unique_ptr<DatasetIterator> MakeRecordFiles(std::vector<std::string> paths, std::vector<TensorSpec> element_spec,
                                                 OpenRecordFile open) {
  return std::make_unique<RecordFiles>(std::move(paths), std::move(element_spec), std::move(open));
}

}  // namespace cohort
