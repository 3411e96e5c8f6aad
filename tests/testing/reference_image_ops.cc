#include <limits>

#include "tests/testing/reference_ops.h"

namespace cohort::testing {
namespace {

using Arrays = std::vector<Array>;
using Result = absl::StatusOr<Arrays>;

// A window sliding over an image: its own arithmetic, apart from the runtime's.
struct Slide {
  Shape input, output;  // NHWC, the output's channels to be set
  int64_t size[2], stride[2], before[2];

  Slide(const Node& node, const Shape& in, int64_t height, int64_t width) : input(in), output(in), size{height, width} {
    const auto strides = GetAttributeOr<std::vector<int64_t>>(node.attributes, "strides", {});
    const bool same = GetAttributeOr<std::string>(node.attributes, "padding", "") == "SAME";
    for (int i = 0; i < 2; ++i) {
      stride[i] = strides[1 + i];
      const int64_t extent = in.dim(1 + i);
      int64_t count = 0;  // positions: VALID: the window fits; SAME: its first element would be inside without padding
      while (same ? count * stride[i] < extent : count * stride[i] + size[i] <= extent) ++count;
      output.set_dim(1 + i, count);
      const int64_t covered = (count - 1) * stride[i] + size[i];
      before[i] = same && covered > extent ? (covered - extent) / 2 : 0;
    }
  }

  // Calls f(batch, out row, out column, window row, window column, in row, in column) for every place inside the image.
  template <typename F>
  void ForEach(F f) const {
    for (int64_t n = 0; n < input.dim(0); ++n) {
      for (int64_t oy = 0; oy < output.dim(1); ++oy) {
        for (int64_t ox = 0; ox < output.dim(2); ++ox) {
          for (int64_t ky = 0; ky < size[0]; ++ky) {
            for (int64_t kx = 0; kx < size[1]; ++kx) {
              const int64_t y = oy * stride[0] + ky - before[0], x = ox * stride[1] + kx - before[1];
              if (y < 0 || x < 0 || y >= input.dim(1) || x >= input.dim(2)) continue;
              f(n, oy, ox, ky, kx, y, x);
            }
          }
        }
      }
    }
  }
};

int64_t Index(const Shape& s, int64_t a, int64_t b, int64_t c, int64_t d) {
  return ((a * s.dim(1) + b) * s.dim(2) + c) * s.dim(3) + d;
}

Array Zeros(const Shape& shape) { return {shape, std::vector<double>(static_cast<size_t>(shape.num_elements()), 0.0)}; }

Shape ShapeFrom(const Array& ints, int64_t batch) {
  Shape shape;
  for (const double d : ints.values) shape.push_back(static_cast<int64_t>(d));
  if (shape.dim(0) < 0) shape.set_dim(0, batch);
  return shape;
}

// Every product of a convolution: f(index in the image, in the filter, in the output).
template <typename F>
void ForEachProduct(const Node& node, const Shape& image, const Shape& filter, Shape& output, F f) {
  Slide slide(node, image, filter.dim(0), filter.dim(1));
  slide.output.set_dim(3, filter.dim(3));
  output = slide.output;
  slide.ForEach([&](int64_t n, int64_t oy, int64_t ox, int64_t ky, int64_t kx, int64_t y, int64_t x) {
    for (int64_t i = 0; i < filter.dim(2); ++i) {
      for (int64_t o = 0; o < filter.dim(3); ++o) {
        f(Index(image, n, y, x, i), Index(filter, ky, kx, i, o), Index(slide.output, n, oy, ox, o));
      }
    }
  });
}

Result Conv2D(const Node& node, const Arrays& in) {
  Slide slide(node, in[0].shape, in[1].shape.dim(0), in[1].shape.dim(1));
  slide.output.set_dim(3, in[1].shape.dim(3));
  Array y = Zeros(slide.output);
  Shape output;
  ForEachProduct(node, in[0].shape, in[1].shape, output,
                 [&](int64_t i, int64_t f, int64_t o) { y.values[o] += in[0].values[i] * in[1].values[f]; });
  return Arrays{y};
}

Result BackpropInput(const Node& node, const Arrays& in) {
  Array dx = Zeros(ShapeFrom(in[0], in[2].shape.dim(0)));
  Shape output;
  ForEachProduct(node, dx.shape, in[1].shape, output,
                 [&](int64_t i, int64_t f, int64_t o) { dx.values[i] += in[1].values[f] * in[2].values[o]; });
  return Arrays{dx};
}

Result BackpropFilter(const Node& node, const Arrays& in) {
  Array df = Zeros(ShapeFrom(in[1], -1));
  Shape output;
  ForEachProduct(node, in[0].shape, df.shape, output,
                 [&](int64_t i, int64_t f, int64_t o) { df.values[f] += in[0].values[i] * in[2].values[o]; });
  return Arrays{df};
}

// Per output, the largest value and where the first such one lies.
struct Pooled {
  Array values;
  std::vector<int64_t> from;
};
Pooled Pool(const Node& node, const Array& x) {
  const auto ksize = GetAttributeOr<std::vector<int64_t>>(node.attributes, "ksize", {});
  const Slide slide(node, x.shape, ksize[1], ksize[2]);
  Pooled pooled{Zeros(slide.output), {}};
  pooled.values.values.assign(pooled.values.values.size(), -std::numeric_limits<double>::infinity());
  pooled.from.assign(pooled.values.values.size(), -1);
  slide.ForEach([&](int64_t n, int64_t oy, int64_t ox, int64_t, int64_t, int64_t row, int64_t column) {
    for (int64_t c = 0; c < x.shape.dim(3); ++c) {
      const int64_t o = Index(slide.output, n, oy, ox, c), i = Index(x.shape, n, row, column, c);
      if (pooled.from[o] >= 0 && !(x.values[i] > pooled.values.values[o])) continue;
      pooled.values.values[o] = x.values[i];
      pooled.from[o] = i;
    }
  });
  return pooled;
}

Result MaxPool(const Node& node, const Arrays& in) { return Arrays{Pool(node, in[0]).values}; }
Result MaxPoolGrad(const Node& node, const Arrays& in) {
  const Pooled pooled = Pool(node, in[0]);
  Array dx = Zeros(in[0].shape);
  for (size_t o = 0; o < pooled.from.size(); ++o) dx.values[pooled.from[o]] += in[2].values[o];
  return Arrays{dx};
}

}  // namespace

void AddReferenceImageOps(std::map<std::string, ReferenceOp>& ops) {
  ops["Conv2D"] = Conv2D;
  ops["Conv2DBackpropInput"] = BackpropInput;
  ops["Conv2DBackpropFilter"] = BackpropFilter;
  ops["MaxPool"] = MaxPool;
  ops["MaxPoolGrad"] = MaxPoolGrad;
}

}  // namespace cohort::testing
