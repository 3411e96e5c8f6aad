#ifndef COHORT_RUNTIME_DATASET_STREAM_H_
#define COHORT_RUNTIME_DATASET_STREAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

// Makes the iterators of the nodes of a definition's inputs.
using MakeInput = absl::StatusOr<std::unique_ptr<DatasetIterator>> (*)(const DatasetDef& definition,
                                                                       const IteratorContext& context);

// The iterator of a node that is no index arithmetic: a source that is read from its start, a transformation of one, or
// one that needs to see the elements.
// InvalidArgument: an unknown node or attribute, or values that make no sense; names the node. Else as the source says.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeStream(const DatasetDef& definition,
                                                            const IteratorContext& context, MakeInput make_input);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_STREAM_H_
