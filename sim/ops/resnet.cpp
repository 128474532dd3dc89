// A residual network as blocks: stem, bottleneck blocks, head.
//
// He et al. 2015, arXiv 1512.03385, table 1 and figure 5; the stride stands in the 3x3 convolution
// (pytorch/vision torchvision/models/resnet.py, class Bottleneck: "ResNet V1.5"). The first block
// of a stage widens and, from the second stage on, shrinks the images, and so does its shortcut.
// In a ResNeXt (Xie et al. 2017, arXiv 1611.05431, table 1) the 3x3 convolution has groups.
#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/image_layers.hpp"

namespace stepsim {
namespace {

constexpr std::int64_t kStemWidth = 64;
constexpr std::int64_t kExpansion = 4;

Filter stem_filter() { return {kStemWidth, 7, 2}; }
Filter pool_filter() { return {kStemWidth, 3, 2}; }

/// The filters of a block between `in` channels and four times the stage's width.
struct Bottleneck {
  Bottleneck(const ResNet& model, std::size_t stage, bool first, std::int64_t in)
      : shortcut(first) {
    const std::int64_t out = kExpansion * (kStemWidth << stage);
    const std::int64_t width = model.groups * (model.group_width << stage);
    const std::int64_t stride = first && stage > 0 ? 2 : 1;
    in_channels = in;
    reduce = {width, 1, 1};
    middle = {width, 3, stride, model.groups};
    expand = {out, 1, 1};
    project = {out, 1, stride};
  }
  double parameters() const {
    const auto convolution = [](std::int64_t in, const Filter& f) {  // a convolution and its norm
      const std::int64_t weights = in / f.groups * f.out_channels * f.width * f.width;
      return static_cast<double>(weights + 2 * f.out_channels);
    };
    return convolution(in_channels, reduce) + convolution(reduce.out_channels, middle) +
           convolution(middle.out_channels, expand) +
           (shortcut ? convolution(in_channels, project) : 0);
  }
  std::int64_t in_channels;
  Filter reduce, middle, expand, project;
  bool shortcut;  ///< by a convolution
};

/// Adds ops one after the other.
class ImageChain {
 public:
  ImageChain(Block& block, const Pass& pass, const ResNet& model)
      : block_(block), pass_(pass), model_(model) {}

  void add(Op op) {
    const OpDag::Vertex before = block_.dag.ops.size();
    before == 0 ? block_.dag.add(std::move(op), {}) : block_.dag.add(std::move(op), {before - 1});
  }
  Images add_convolution(const std::string& name, const Images& in, const Filter& filter,
                         const ConvolutionUse& use = {}) {
    add(convolution(pass_, name, in, filter, model_.layout, use));
    return convolved(in, filter);
  }
  void add_norm(const std::string& name, const Images& images, NormUse use = {}) {
    use.fused = model_.fused_norm;
    add(batch_norm(pass_, name, images, use));
  }

 private:
  Block& block_;
  const Pass& pass_;
  const ResNet& model_;
};

Block block_of(const std::string& name, const Pass& pass, const Images& in) {
  return {.name = name, .dag = {}, .input = Bytes{pass.element() * in.elements()}};
}

/// In the order of torchvision: the shortcut's convolution comes after the other three, so that its
/// gradient is there when that of the first is added to it.
Block bottleneck_block(const ResNet& model, const Pass& pass, const std::string& name,
                       const Images& in, const Bottleneck& b) {
  Block block = block_of(name, pass, in);
  block.recomputable = true;
  ImageChain chain(block, pass, model);
  const bool taken_in = model.norms_in_convolutions;
  const NormUse between{.summed = taken_in, .applied = !taken_in};
  const NormUse before_sum{.relu = false, .summed = taken_in, .applied = !taken_in};
  const NormUse with_sum{.addition = true, .summed = taken_in};
  const Images reduced =
      chain.add_convolution("conv1", in, b.reduce, {.adds_input_gradient = true});
  chain.add_norm("norm1", reduced, between);
  const Images middle =
      chain.add_convolution("conv2", reduced, b.middle, {.saves_input = !taken_in});
  chain.add_norm("norm2", middle, between);
  const Images out = chain.add_convolution("conv3", middle, b.expand, {.saves_input = !taken_in});
  if (!b.shortcut) {
    chain.add_norm("norm3", out, with_sum);
    return block;
  }
  chain.add_norm("norm3", out, before_sum);
  chain.add_convolution("shortcut", in, b.project, {.saves_input = false});
  chain.add_norm("shortcut norm", out, with_sum);
  return block;
}

Block stem_block(const ResNet& model, const Pass& pass, const Images& in) {
  Block block = block_of("stem", pass, in);
  ImageChain chain(block, pass, model);
  const Images out =
      chain.add_convolution("conv", in, stem_filter(), {.wants_input_gradient = false});
  chain.add_norm("norm", out);
  chain.add(max_pool(pass, out));
  return block;
}

Block head_block(const ResNet& model, const Pass& pass, const Images& in) {
  Block block = block_of("head", pass, in);
  ImageChain chain(block, pass, model);
  chain.add(average_pool(pass, in));
  chain.add(column_linear(pass, "fc", in.channels, model.classes, true));
  chain.add(class_loss(pass, model.classes));
  return block;
}

}  // namespace

BlockChain resnet_blocks(const ResNet& model, const Pass& pass) {
  Images images{pass.batch, model.channels, model.image};
  BlockChain result{{stem_block(model, pass, images)}, {0}};
  images = convolved(convolved(images, stem_filter()), pool_filter());
  for (std::size_t stage = 0; stage < model.blocks.size(); ++stage) {
    const std::string name = "stage " + std::to_string(stage + 1);
    const Bottleneck first(model, stage, true, images.channels);
    result.chain.push_back(result.blocks.size());
    result.blocks.push_back(bottleneck_block(model, pass, name + " first", images, first));
    images = convolved(convolved(images, first.middle), first.expand);
    if (model.blocks[stage] == 1) continue;
    const Bottleneck other(model, stage, false, images.channels);
    result.chain.insert(result.chain.end(), static_cast<std::size_t>(model.blocks[stage] - 1),
                        result.blocks.size());
    result.blocks.push_back(bottleneck_block(model, pass, name, images, other));
  }
  result.chain.push_back(result.blocks.size());
  result.blocks.push_back(head_block(model, pass, images));
  return result;
}

double parameter_count(const ResNet& model) {
  std::int64_t channels = kStemWidth;
  double sum = static_cast<double>(model.channels * kStemWidth * 7 * 7 + 2 * kStemWidth);
  for (std::size_t stage = 0; stage < model.blocks.size(); ++stage) {
    const Bottleneck first(model, stage, true, channels);
    channels = first.expand.out_channels;
    sum += first.parameters() + static_cast<double>(model.blocks[stage] - 1) *
                                    Bottleneck(model, stage, false, channels).parameters();
  }
  return sum + static_cast<double>((channels + 1) * model.classes);
}

}  // namespace stepsim
