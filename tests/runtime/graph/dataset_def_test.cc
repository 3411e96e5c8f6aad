#include "runtime/graph/dataset_def.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

TEST(DatasetDefTest, PrintsOneLinePerNode) {
  const DatasetDef def{"Batch",
                       {{"batch_size", int64_t{8}}, {"drop_remainder", false}},
                       {{"FashionMnist", {{"split", std::string("train")}}, {}}}};
  EXPECT_EQ(def.ToString(), "Batch{batch_size=8, drop_remainder=false}\n  FashionMnist{split='train'}\n");
}

}  // namespace
}  // namespace cohort
