#include "runtime/dataset/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/file_system.h"
#include "runtime/dataset/function_runner.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::cohort::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Texts = std::vector<std::string>;

// "Double" gives twice its int64, "IsOdd" a bool; "Fail" fails at 3.
class FakeFunctions final : public FunctionRunner {
 public:
  absl::StatusOr<std::vector<TensorSpec>> ResultSpecs(const std::string& function,
                                                      const std::vector<TensorSpec>& arguments) const override {
    if (function == "IsOdd") return std::vector<TensorSpec>{{DType::kBool, Shape{}}};
    if (function == "Double" || function == "Fail") return arguments;
    return absl::NotFoundError("there is no function '" + function + "'");
  }
  absl::Status Run(const std::string& function, const Element& arguments, Element& results) const override {
    const int64_t value = arguments[0].values<int64_t>()[0];
    if (function == "Fail" && value == 3) return absl::InvalidArgumentError("cannot take 3");
    results = {function == "IsOdd" ? Tensor::Scalar<bool>(value % 2 == 1) : Tensor::Scalar<int64_t>(2 * value)};
    return absl::OkStatus();
  }
};
const FakeFunctions functions;

DatasetDef Node(std::string kind, Attributes attributes, std::vector<DatasetDef> inputs) {
  return {std::move(kind), std::move(attributes), std::move(inputs)};
}
DatasetDef Range(int64_t stop, int64_t start = 0) { return {"Range", {{"start", start}, {"stop", stop}}, {}}; }
DatasetDef Batch(int64_t size, DatasetDef input) { return Node("Batch", {{"batch_size", size}}, {std::move(input)}); }
DatasetDef Buffered(int64_t buffer, DatasetDef input, bool reshuffle = true) {
  return Node("Shuffle", {{"buffer_size", buffer}, {"seed", int64_t{7}}, {"reshuffle_each_iteration", reshuffle}},
              {std::move(input)});
}
// The same elements, but as a stream.
DatasetDef Stream(DatasetDef input) { return Node("Concatenate", {}, {std::move(input)}); }
// A stream that does not know how many elements it has.
DatasetDef Odd(DatasetDef input) { return Node("Filter", {{"function", std::string("IsOdd")}}, {std::move(input)}); }

std::unique_ptr<DatasetIterator> Make(const DatasetDef& definition) {
  auto iterator = MakeIterator(definition, {.functions = &functions});
  EXPECT_TRUE(iterator.ok()) << iterator.status() << "\n" << definition.ToString();
  return iterator.ok() ? *std::move(iterator) : nullptr;
}

std::string ToText(const Element& element) {
  const auto append = [](std::string* out, const Tensor& tensor) {
    const std::string text = tensor.ToString();
    absl::StrAppend(out, tensor.dtype() == DType::kI64 ? text.substr(text.find('[')) : text);
  };
  return absl::StrJoin(element, " ", append);
}

// What is left of the epoch, at most 200 elements.
Texts Rest(DatasetIterator& iterator) {
  Texts texts;
  Element element;
  while (texts.size() < 200) {
    const absl::StatusOr<bool> more = iterator.Next(element);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) break;
    texts.push_back(ToText(element));
  }
  return texts;
}

// The scalars, or rows, of an epoch, as "0 1 2" or "0,1 2,3".
std::string Epoch(const DatasetDef& definition, int64_t epoch = 0) {
  auto iterator = Make(definition);
  if (iterator == nullptr) return "error";
  COHORT_EXPECT_OK(iterator->Reset(epoch));
  Texts elements;
  Element element;
  while (elements.size() < 100) {
    const absl::StatusOr<bool> more = iterator->Next(element);
    if (!more.ok()) return more.status().ToString();
    if (!*more) break;
    Texts components;
    for (const Tensor& component : element) {
      components.push_back(component.dtype() == DType::kString ? absl::StrJoin(component.strings(), ",")
                                                               : absl::StrJoin(component.values<int64_t>(), ","));
    }
    elements.push_back(absl::StrJoin(components, ":"));
  }
  if (iterator->cardinality() >= 0) {
    EXPECT_EQ(iterator->cardinality(), static_cast<int64_t>(elements.size()));
  }
  return absl::StrJoin(elements, " ");
}

TEST(StreamTest, Sources) {
  EXPECT_EQ(Epoch(Range(5)), "0 1 2 3 4");
  EXPECT_EQ(Epoch({"Range", {{"start", int64_t{5}}, {"stop", int64_t{0}}, {"step", int64_t{-2}}}, {}}), "5 3 1");
  const DatasetDef slices{"FromTensorSlices",
                          {{"tensor_0", Tensor::Of<int64_t>({3, 2}, {1, 2, 3, 4, 5, 6})},
                           {"tensor_1", Tensor::OfStrings({3}, {"a", "b", "c"})}},
                          {}};
  EXPECT_EQ(Epoch(slices), "1,2:a 3,4:b 5,6:c");
  EXPECT_EQ(Epoch(Batch(2, slices)), "1,2,3,4:a,b 5,6:c");
}

TEST(StreamTest, SelectionsOfAStreamAreThoseOfAPipeline) {
  const DatasetDef kPipelines[] = {
      Node("Take", {{"count", int64_t{4}}}, {Range(10)}),
      Node("Skip", {{"count", int64_t{7}}}, {Range(10)}),
      Node("Shard", {{"num_shards", int64_t{3}}, {"index", int64_t{1}}}, {Range(10)}),
      Node("Repeat", {{"count", int64_t{3}}}, {Range(4)}),
      Node("Repeat", {{"count", int64_t{0}}}, {Range(4)}),
      Node("Shuffle", {{"seed", int64_t{3}}}, {Range(10)}),
      Node("Shuffle", {{"reshuffle_each_iteration", false}}, {Range(10)}),
      Node("Repeat", {{"count", int64_t{2}}}, {Node("Shuffle", {}, {Range(6)})}),
      Batch(4, Range(10)),
      Node("Batch", {{"batch_size", int64_t{4}}, {"drop_remainder", true}}, {Range(10)}),
      Node("GlobalBatch", {{"batch_size", int64_t{3}}, {"num_workers", int64_t{2}}, {"index", int64_t{1}}}, {Range(8)}),
      Node("GlobalBatch", {{"batch_size", int64_t{2}}, {"num_workers", int64_t{2}}, {"index", int64_t{1}}}, {Range(9)}),
      Node("DealtBatch", {{"batch_size", int64_t{2}}, {"num_workers", int64_t{2}}, {"index", int64_t{1}}}, {Range(9)}),
  };
  for (const DatasetDef& pipeline : kPipelines) {
    DatasetDef stream = pipeline;
    DatasetDef* leaf = &stream;
    while (leaf->inputs[0].kind != "Range") leaf = &leaf->inputs[0];
    leaf->inputs[0] = Stream(leaf->inputs[0]);
    for (const int64_t epoch : {0, 1, 5}) EXPECT_EQ(Epoch(stream, epoch), Epoch(pipeline, epoch)) << stream.ToString();
  }
}

TEST(StreamTest, Combinations) {
  EXPECT_EQ(Epoch(Node("Zip", {}, {Range(3), Range(15, 10)})), "0:10 1:11 2:12");
  EXPECT_EQ(Epoch(Node("Concatenate", {}, {Range(2), Range(1), Range(3)})), "0 1 0 0 1 2");
  EXPECT_EQ(Epoch(Node("Enumerate", {{"start", int64_t{5}}}, {Range(12, 10)})), "5:10 6:11");
  EXPECT_EQ(Epoch(Node("Unbatch", {}, {Batch(3, Range(7))})), "0 1 2 3 4 5 6");
  EXPECT_EQ(Epoch(Node("Map", {{"function", std::string("Double")}}, {Range(4)})), "0 2 4 6");
  EXPECT_EQ(Epoch(Odd(Range(7))), "1 3 5");
}

// As tf.data's interleave gives them.
TEST(StreamTest, InterleaveGoesRound) {
  const std::vector<DatasetDef> inputs = {Range(13, 10), Range(21, 20), Range(34, 30), Range(42, 40)};
  const auto interleave = [&](int64_t cycle, int64_t block) {
    return Epoch(Node("Interleave", {{"cycle_length", cycle}, {"block_length", block}}, inputs));
  };
  EXPECT_EQ(interleave(2, 1), "10 20 11 12 30 31 40 32 41 33");
  EXPECT_EQ(interleave(2, 2), "10 11 20 12 30 31 40 41 32 33");
  EXPECT_EQ(interleave(1, 1), "10 11 12 20 30 31 32 33 40 41");
  EXPECT_EQ(interleave(9, 9), "10 11 12 20 30 31 32 33 40 41");
}

TEST(StreamTest, PaddedBatchesFillUpToTheLongest) {
  // Rows of 1, 2 and 3 columns, then text.
  const auto rows = [](std::vector<int64_t> values) {
    const auto size = static_cast<int64_t>(values.size());
    return DatasetDef{"FromTensorSlices", {{"tensor_0", Tensor::Of<int64_t>({1, size}, values)}}, {}};
  };
  const DatasetDef mixed = Node("Concatenate", {}, {rows({1}), rows({2, 3}), rows({4, 5, 6})});
  EXPECT_EQ(Epoch(Node("PaddedBatch", {{"batch_size", int64_t{2}}}, {mixed})), "1,0,2,3 4,5,6");
  EXPECT_EQ(Epoch(Node("PaddedBatch", {{"batch_size", int64_t{3}}, {"padding_value", -1.0}}, {mixed})),
            "1,-1,-1,2,3,-1,4,5,6");
  const DatasetDef pairs = Node("PaddedBatch", {{"batch_size", int64_t{2}}}, {mixed});
  EXPECT_THAT(Epoch(Node("Rebatch", {{"batch_sizes", std::vector<int64_t>{3}}}, {pairs})),
              AllOf(HasSubstr("rows of int64 [2] and of int64 [3]"), HasSubstr("one batch")));
  EXPECT_EQ(Epoch(Node("Rebatch", {{"batch_sizes", std::vector<int64_t>{2}}}, {pairs})), "1,0,2,3 4,5,6");
  const double large = 16777217;  // no float32
  EXPECT_EQ(Epoch(Node("PaddedBatch", {{"batch_size", int64_t{2}}, {"padding_value", large}}, {mixed})),
            "1,16777217,2,3 4,5,6");
  EXPECT_THAT(Epoch(Batch(2, mixed)), AllOf(HasSubstr("shape [2]"), HasSubstr("[1]"), HasSubstr("PaddedBatch")));
}

TEST(StreamTest, BufferedShuffleGivesEachElementOnceAndReshuffles) {
  auto sorted = [](const std::string& text) {
    Texts parts = absl::StrSplit(text, ' ');
    std::sort(parts.begin(), parts.end());
    return parts;
  };
  for (const int64_t buffer : {1, 2, 5, 10, 30}) {
    const DatasetDef shuffled = Buffered(buffer, Range(20));
    EXPECT_EQ(sorted(Epoch(shuffled)), sorted(Epoch(Range(20)))) << buffer;
    if (buffer == 1) {
      EXPECT_EQ(Epoch(shuffled), Epoch(Range(20)));
    } else {
      EXPECT_NE(Epoch(shuffled, 0), Epoch(shuffled, 1)) << buffer;
      EXPECT_EQ(Epoch(shuffled, 1), Epoch(shuffled, 1)) << buffer;
    }
    EXPECT_EQ(Epoch(Buffered(buffer, Range(20), false), 0), Epoch(Buffered(buffer, Range(20), false), 3));
  }
}

TEST(StreamTest, CacheGivesTheFirstEpochAgain) {
  const DatasetDef cached = Node("Cache", {}, {Node("Shuffle", {}, {Range(8)})});
  EXPECT_EQ(Epoch(cached, 0), Epoch(Node("Shuffle", {}, {Range(8)}), 0));
  EXPECT_EQ(Epoch(cached, 3), Epoch(cached, 0));
}

TEST(StreamTest, RebatchCutsTheRowsAnew) {
  const auto rebatch = [](std::vector<int64_t> sizes, int64_t rows) {
    return Epoch(Node("Rebatch", {{"batch_sizes", std::move(sizes)}}, {Batch(4, Range(rows))}));
  };
  EXPECT_EQ(rebatch({2, 2}, 8), "0,1 2,3 4,5 6,7");
  EXPECT_EQ(rebatch({2, 2}, 5), "0,1 2,3 4");
  EXPECT_EQ(rebatch({1, 1, 1, 1, 0}, 8), "0 1 2 3  4 5 6 7 ");
  EXPECT_EQ(rebatch({1, 0}, 3), "0  1  2 ");
  EXPECT_EQ(rebatch({0, 1}, 3), " 0  1  2");
  EXPECT_EQ(rebatch({3}, 10), "0,1,2 3,4,5 6,7,8 9");
  EXPECT_EQ(Epoch(Node("LegacyRebatch", {{"num_replicas", int64_t{3}}}, {Batch(4, Range(8))})), "0,1 2,3  4,5 6,7 ");
}

// Everything above, in the middle of any epoch: what a new iterator gives from a position on is what the first one had
// left, and so it is after going anywhere else before.
TEST(StreamTest, PositionsCanBeRestoredAnywhere) {
  const TempDir dir;
  const auto files = *MakePosixFileSystem("");
  for (const char* name : {"a.txt", "b.txt", "c.txt"}) {
    COHORT_ASSERT_OK(WriteFileAtomically(*files, dir.File(name), absl::StrCat(name, "0\n", name, "1\n", name, "2\n")));
  }
  const DatasetDef lines{"TextLines", {{"files", Texts{dir.File("*.txt")}}}, {}};
  const auto repeat = [](int64_t count, DatasetDef input) {
    return Node("Repeat", {{"count", count}}, {std::move(input)});
  };
  const DatasetDef kAll[] = {
      Range(9),
      Node("Shuffle", {}, {Range(9)}),
      lines,
      Stream(Range(9)),
      Odd(Range(20)),
      Node("Take", {{"count", int64_t{5}}}, {lines}),
      Node("Skip", {{"count", int64_t{5}}}, {lines}),
      Node("Shard", {{"num_shards", int64_t{2}}, {"index", int64_t{1}}}, {lines}),
      repeat(3, lines),
      repeat(3, Odd(Range(8))),
      repeat(2, Buffered(4, lines)),
      Node("Enumerate", {}, {lines}),
      Node("Cache", {}, {lines}),
      Node("Shuffle", {}, {lines}),
      Buffered(3, lines),
      Buffered(30, lines),
      Buffered(9, lines),
      Buffered(3, Odd(Range(20))),
      Buffered(3, repeat(2, lines)),
      Buffered(2, Buffered(4, Range(11))),
      Node("Zip", {}, {lines, Range(7)}),
      Node("Concatenate", {}, {lines, lines}),
      Node("Concatenate", {}, {Odd(Range(6)), Range(4)}),
      Node("Interleave", {{"cycle_length", int64_t{2}}, {"block_length", int64_t{2}}}, {Range(5), Range(3), Range(4)}),
      Batch(4, lines),
      Batch(2, Odd(Range(15))),
      Node("DealtBatch", {{"batch_size", int64_t{2}}, {"num_workers", int64_t{2}}, {"index", int64_t{1}}}, {lines}),
      Node("GlobalBatch", {{"batch_size", int64_t{4}}, {"num_workers", int64_t{2}}, {"index", int64_t{1}}}, {lines}),
      Node("PaddedBatch", {{"batch_size", int64_t{4}}}, {lines}),
      Node("Unbatch", {}, {Batch(4, lines)}),
      Node("Rebatch", {{"batch_sizes", std::vector<int64_t>{2, 1, 0}}}, {Batch(4, lines)}),
      Node("LegacyRebatch", {{"num_replicas", int64_t{3}}}, {Batch(4, lines)}),
      Node("Map", {{"function", std::string("Double")}}, {Stream(Range(6))}),
      Node("Prefetch", {{"buffer_size", int64_t{2}}}, {Buffered(3, lines)}),
  };
  for (const DatasetDef& definition : kAll) {
    for (const int64_t epoch : {0, 2}) {
      auto whole = Make(definition);
      COHORT_ASSERT_OK(whole->Reset(epoch));
      const Texts all = Rest(*whole);
      ASSERT_FALSE(all.empty()) << definition.ToString();
      auto wanderer = Make(definition);
      for (size_t from = 0; from <= all.size() + 1; ++from) {
        const Texts rest(all.begin() + std::min(from, all.size()), all.end());
        auto fresh = Make(definition);
        const DatasetPosition position{epoch, static_cast<int64_t>(from)};
        COHORT_ASSERT_OK(fresh->Seek(position));
        EXPECT_EQ(fresh->position(), position);
        EXPECT_EQ(Rest(*fresh), rest) << definition.ToString() << "from " << from << " of epoch " << epoch;
        // Forwards, with elements read on the way, and backwards.
        Element element;
        if (from % 3 == 1) {
          COHORT_ASSERT_OK(wanderer->Next(element).status());
        } else if (from % 3 == 2) {
          COHORT_ASSERT_OK(wanderer->Seek({epoch + 1, 1}));
        }
        COHORT_ASSERT_OK(wanderer->Seek(position));
        if (from % 2 == 0) {
          EXPECT_EQ(Rest(*wanderer), rest) << definition.ToString() << "at " << from;
          COHORT_ASSERT_OK(wanderer->Seek(position));
        }
      }
    }
  }
}

TEST(StreamTest, ElementsThatSomebodyHoldsAreNotOverwritten) {
  auto iterator = Make(Batch(2, Stream(Range(6))));
  Element element;
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  const Tensor held = element[0];
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_TRUE(held.BitwiseEquals(Tensor::Of<int64_t>({2}, {0, 1})));
}

TEST(StreamTest, FunctionsThatFailAreNamedWithTheElement) {
  auto iterator = Make(Node("Map", {{"function", std::string("Fail")}}, {Range(6)}));
  Element element;
  for (int i = 0; i < 3; ++i) ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_THAT(iterator->Next(element), StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr("function 'Fail', element 3 of epoch 0: cannot take 3")));
}

TEST(StreamTest, BadDefinitionsAreNamed) {
  const struct {
    DatasetDef definition;
    const char* message;
  } kTable[] = {
      {Node("Imagenet", {}, {}), "there is no data set 'Imagenet'; known: FashionMnist, Synthetic"},
      {Node("Zip", {}, {}), "'Zip' has 0 inputs"},
      {Node("Range", {{"stop", int64_t{1}}}, {Odd(Range(2))}), "'Range' has 1 inputs"},
      {Node("Unbatch", {}, {Range(4)}), "scalars"},
      {Node("Concatenate", {}, {Range(4), Batch(2, Range(4))}), "component 0 of input 1"},
      {Node("Interleave", {{"cycle_length", int64_t{0}}}, {Range(4)}), "cycle_length is 0"},
      {Node("Rebatch", {{"batch_sizes", std::vector<int64_t>{0}}}, {Batch(2, Range(4))}), "one must be positive"},
      {Node("Shuffle", {{"buffer_size", int64_t{-1}}}, {Range(4)}), "buffer_size is -1"},
      {Node("Filter", {{"function", std::string("Double")}}, {Range(4)}), "bool []"},
      {Node("Cache", {{"file", std::string("x")}}, {Range(4)}), "no attribute 'file'"},
      {Node("TFRecord", {{"files", Texts{"a"}}, {"compression", std::string("SNAPPY")}}, {}), "SNAPPY"},
  };
  for (const auto& row : kTable) {
    EXPECT_THAT(MakeIterator(row.definition, {.functions = &functions}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.message)));
  }
  EXPECT_THAT(MakeIterator(Odd(Range(2))), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'Filter'")));
  EXPECT_THAT(MakeIterator(Node("Map", {{"function", std::string("Nope")}}, {Range(2)}), {.functions = &functions}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'Nope'")));
}

TEST(StreamTest, EndlessOnes) {
  auto iterator = Make(Buffered(4, Node("Repeat", {}, {Stream(Range(3))})));
  EXPECT_EQ(iterator->cardinality(), kEndlessCardinality);
  COHORT_ASSERT_OK(iterator->Seek({0, 50}));
  const Texts rest = Rest(*iterator);
  COHORT_ASSERT_OK(iterator->Reset(0));
  Element element;
  for (int i = 0; i < 50; ++i) ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_EQ(Rest(*iterator), rest);
  auto whole = Make(Node("Shuffle", {}, {Node("Repeat", {}, {Stream(Range(3))})}));
  EXPECT_THAT(whole->Next(element), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("endless")));
  EXPECT_EQ(Epoch(Node("Repeat", {}, {Stream(Range(0))})), "");
}

}  // namespace
}  // namespace cohort
