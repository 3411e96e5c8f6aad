#include "runtime/kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace cohort::cpu {
namespace {

// Small integers: every sum is exact, so that any order gives the same.
std::vector<float> Integers(int64_t n, uint32_t seed) {
  std::vector<float> values(n);
  for (float& x : values) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(seed >> 24) % 9 - 4);
  }
  return values;
}

struct Product {
  int64_t m, n, k;
  bool ta, tb;
  std::vector<float> a, b, bias, mask;

  Product(int64_t rows, int64_t columns, int64_t depth, bool a_transposed, bool b_transposed)
      : m(rows),
        n(columns),
        k(depth),
        ta(a_transposed),
        tb(b_transposed),
        a(Integers(m * k, 1)),
        b(Integers(k * n, 2)),
        bias(Integers(n, 3)),
        mask(Integers(m * n, 4)) {}

  Gemm ToGemm(std::vector<float>& c) const {
    Gemm gemm;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.a = a.data();
    gemm.b = b.data();
    gemm.c = c.data();
    gemm.lda = ta ? m : k;
    gemm.ldb = tb ? k : n;
    gemm.ldc = n;
    gemm.a_transposed = ta;
    gemm.b_transposed = tb;
    return gemm;
  }
  float At(int64_t i, int64_t j) const {
    float sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += a[ta ? p * m + i : i * k + p] * b[tb ? j * k + p : p * n + j];
    return sum;
  }
};

TEST(GemmTest, EveryShapeAndTranspositionIsExact) {
  for (const int64_t m : {1, 3, 8, 13}) {
    for (const int64_t n : {1, 10, 16, 17, 32, 70}) {
      for (const int64_t k : {0, 1, 5, 256, 600}) {
        for (int form = 0; form < 4; ++form) {
          const Product product(m, n, k, (form & 1) != 0, (form & 2) != 0);
          std::vector<float> c(m * n, 99), want(m * n);
          for (int64_t i = 0; i < m * n; ++i) want[i] = product.At(i / n, i % n);
          RunGemm(product.ToGemm(c));
          ASSERT_EQ(c, want) << m << "x" << n << "x" << k << " form " << form;
        }
      }
    }
  }
}

TEST(GemmTest, TheEpilogueFollowsTheWholeSum) {
  for (const int64_t n : {5, 32}) {
    const Product product(9, n, 300, false, false);
    std::vector<float> c(9 * n, 1), want(9 * n);
    for (int64_t i = 0; i < 9 * n; ++i) {
      const float biased = 1 + product.At(i / n, i % n) + product.bias[i % n];
      want[i] = biased > 0 && product.mask[i] > 0 ? biased : 0;
    }
    Gemm gemm = product.ToGemm(c);
    gemm.accumulate = true;
    gemm.relu = true;
    gemm.bias = product.bias.data();
    gemm.mask = product.mask.data();
    RunGemm(gemm);
    EXPECT_EQ(c, want) << n;
  }
}

// The promise that lets tiles and threads cut as they like.
TEST(GemmTest, PartsHaveTheBitsOfTheWhole) {
  for (int form = 0; form < 4; ++form) {
    Product product(37, 83, 700, (form & 1) != 0, (form & 2) != 0);
    for (float& x : product.a) x = std::sin(x * 1.7f + static_cast<float>(&x - product.a.data()));
    for (float& x : product.b) x = std::cos(x * 0.3f + static_cast<float>(&x - product.b.data()));
    std::vector<float> whole(37 * 83), parts(37 * 83);
    Gemm gemm = product.ToGemm(whole);
    gemm.bias = product.bias.data();
    RunGemm(gemm);
    gemm.c = parts.data();
    for (int64_t i = 0; i < 37; i += 5) {
      for (int64_t j = 0; j < 83; j += 19) {
        RunGemm(Part(gemm, i, std::min<int64_t>(5, 37 - i), j, std::min<int64_t>(19, 83 - j)));
      }
    }
    EXPECT_EQ(whole, parts) << "form " << form;
  }
}

}  // namespace
}  // namespace cohort::cpu
