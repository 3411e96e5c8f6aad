// Every op of the graph can be carried out, and every kernel carries out an op.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "runtime/graph/op.h"
#include "runtime/kernels/kernel.h"

namespace cohort {
namespace {

std::set<std::string> KernelOps() {
  std::set<std::string> ops;
  for (const Kernel& kernel : AllKernels()) ops.emplace(kernel.op);
  return ops;
}

TEST(CompletenessTest, EveryOpHasAKernelOrIsThePlans) {
  const std::set<std::string> kernels = KernelOps();
  std::set<std::string> plan(PlanOps().begin(), PlanOps().end());
  plan.insert("PartitionedCall");  // inlined before there is a plan
  for (const OpDef* op : AllOps()) {
    const std::string name(op->name);
    EXPECT_TRUE(kernels.contains(name) || plan.contains(name)) << name << " has no kernel";
    EXPECT_FALSE(kernels.contains(name) && plan.contains(name)) << name << " has a kernel that nobody calls";
  }
}

TEST(CompletenessTest, EveryKernelIsOfAnOp) {
  for (const std::string& name : KernelOps()) {
    if (name[0] == '_') continue;  // made by the plan
    EXPECT_NE(FindOp(name), nullptr) << "there is no op " << name;
  }
  for (const absl::string_view name : PlanOps()) EXPECT_NE(FindOp(name), nullptr) << "there is no op " << name;
}

TEST(CompletenessTest, NoRowStandsTwice) {
  std::set<std::pair<std::string, DType>> rows;
  for (const Kernel& kernel : AllKernels()) {
    EXPECT_TRUE(rows.emplace(kernel.op, kernel.dtype).second) << kernel.op << " " << DTypeName(kernel.dtype);
  }
}

}  // namespace
}  // namespace cohort
