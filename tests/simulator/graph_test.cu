#include <memory>
#include <numeric>

#include "seeds.cuh"
#include "stream_compaction/cuda_event.h"
#include "stream_compaction/cuda_stream.h"

// Tests of graphs on the simulated card: loops whose condition a kernel sets, and the order of nodes.

namespace StreamCompaction::Testing {
namespace {

/// A graph that tests add nodes to. Its functions return CUDA's status.
class GraphTest : public SeededTest {
  protected:
    GraphTest() { cudaGraphCreate(&graph, 0); }
    ~GraphTest() override {
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
    }
    GraphTest(const GraphTest&) = delete;
    GraphTest& operator=(const GraphTest&) = delete;

    /// Adds what enqueue() puts into the stream.
    template <typename Enqueue>
    void capture(cudaGraph_t into, const Enqueue& enqueue, const std::vector<cudaGraphNode_t>& after = {}) {
        ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, into, after.data(), nullptr, after.size(),
                                                cudaStreamCaptureModeThreadLocal),
                  cudaSuccess);
        enqueue();
        cudaGraph_t captured = nullptr;
        ASSERT_EQ(cudaStreamEndCapture(stream, &captured), cudaSuccess);
        ASSERT_EQ(captured, into);
    }

    /// A new condition of the graph. Each launch assigns `initial` to it.
    [[nodiscard]] cudaGraphConditionalHandle condition(unsigned initial) {
        cudaGraphConditionalHandle handle = 0;
        EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, initial, cudaGraphCondAssignDefault), cudaSuccess);
        return handle;
    }

    /// Adds a loop, and returns its body.
    [[nodiscard]] static cudaGraph_t addLoop(cudaGraph_t to, cudaGraphConditionalHandle handle,
                                             const std::vector<cudaGraphNode_t>& after = {}) {
        cudaGraphNodeParams params = loopParams(handle);
        cudaGraphNode_t node = nullptr;
        EXPECT_EQ(cudaGraphAddNode(&node, to, after.data(), nullptr, after.size(), &params), cudaSuccess);
        return params.conditional.phGraph_out[0];
    }
    [[nodiscard]] static cudaGraphNodeParams loopParams(cudaGraphConditionalHandle handle) {
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeConditional;
        params.conditional.handle = handle;
        params.conditional.type = cudaGraphCondTypeWhile;
        params.conditional.size = 1;
        return params;
    }
    [[nodiscard]] static std::vector<cudaGraphNode_t> nodesOf(cudaGraph_t graph) {
        std::size_t count = 0;
        cudaGraphGetNodes(graph, nullptr, &count);
        std::vector<cudaGraphNode_t> nodes(count);
        cudaGraphGetNodes(graph, nodes.data(), &count);
        return nodes;
    }

    [[nodiscard]] cudaError_t instantiate() { return cudaGraphInstantiate(&executable, graph, 0); }
    void launch() {
        ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
        stream.synchronize();
    }

    [[nodiscard]] unsigned value(int i = 0) const {
        std::vector<unsigned> all(numbers.size());
        numbers.copyTo(all);
        return all[i];
    }

    CudaStream stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    DeviceBuffer<unsigned> numbers{std::span<const unsigned>(std::vector<unsigned>(4))};
};

__global__ void kernSet(unsigned* number, unsigned value) { *number = value; }
__global__ void kernAdd(unsigned* number, unsigned value) { *number = *number + value; }
/// Counts down, and lets the loop go on until 0.
__global__ void kernCountDown(cudaGraphConditionalHandle handle, unsigned* number) {
    *number = *number - 1;
    cudaGraphSetConditional(handle, *number);
}

TEST_F(GraphTest, ALoopRunsUntilItsKernelEndsIt) {
    unsigned* const count = numbers.data();
    unsigned* const rounds = numbers.data() + 1;
    capture(graph, [&] { kernSet<<<1, 1, 0, stream>>>(count, 5); });
    const auto handle = condition(1);
    const cudaGraph_t body = addLoop(graph, handle, nodesOf(graph));
    capture(body, [&] {
        kernAdd<<<1, 1, 0, stream>>>(rounds, 1);
        cudaMemsetAsync(rounds + 1, 0, sizeof(unsigned), stream);
        kernCountDown<<<1, 1, 0, stream>>>(handle, count);
    });
    capture(graph, [&] { kernAdd<<<1, 1, 0, stream>>>(rounds + 1, 7); }, {nodesOf(graph).back()});
    ASSERT_EQ(instantiate(), cudaSuccess);
    for (unsigned launches = 1; launches <= 3; ++launches) {
        launch();
        EXPECT_EQ(value(0), 0U);
        EXPECT_EQ(value(1), 5 * launches);
        EXPECT_EQ(value(2), 7U) << "what follows the loop ran before its end";
    }
}

TEST_F(GraphTest, ALoopWhoseConditionIsZeroDoesNothing) {
    const cudaGraph_t body = addLoop(graph, condition(0));
    capture(body, [&] { kernAdd<<<1, 1, 0, stream>>>(numbers.data(), 1); });
    ASSERT_EQ(instantiate(), cudaSuccess);
    launch();
    EXPECT_EQ(value(), 0U);
}

TEST_F(GraphTest, ALoopInALoop) {
    unsigned* const outer = numbers.data();
    unsigned* const inner = numbers.data() + 1;
    unsigned* const rounds = numbers.data() + 2;
    capture(graph, [&] { kernSet<<<1, 1, 0, stream>>>(outer, 3); });
    const auto outerHandle = condition(1);
    const auto innerHandle = condition(0);
    const cudaGraph_t outerBody = addLoop(graph, outerHandle, nodesOf(graph));
    capture(outerBody, [&] {
        kernSet<<<1, 1, 0, stream>>>(inner, 5);
        kernCountDown<<<1, 1, 0, stream>>>(innerHandle, inner);
    });
    const cudaGraph_t innerBody = addLoop(outerBody, innerHandle, nodesOf(outerBody));
    capture(innerBody, [&] {
        kernAdd<<<1, 1, 0, stream>>>(rounds, 1);
        kernCountDown<<<1, 1, 0, stream>>>(innerHandle, inner);
    });
    capture(
        outerBody, [&] { kernCountDown<<<1, 1, 0, stream>>>(outerHandle, outer); }, nodesOf(outerBody));
    ASSERT_EQ(instantiate(), cudaSuccess);
    launch();
    EXPECT_EQ(value(2), 12U);
}

TEST_F(GraphTest, AnInstanceDoesNotSeeLaterNodes) {
    const auto handle = condition(1);
    const cudaGraph_t body = addLoop(graph, handle);
    kernSet<<<1, 1, 0, stream>>>(numbers.data(), 2);
    capture(body, [&] { kernCountDown<<<1, 1, 0, stream>>>(handle, numbers.data()); });
    ASSERT_EQ(instantiate(), cudaSuccess);
    capture(
        body, [&] { kernAdd<<<1, 1, 0, stream>>>(numbers.data() + 1, 1); }, nodesOf(body));
    capture(graph, [&] { kernAdd<<<1, 1, 0, stream>>>(numbers.data() + 1, 1); });
    launch();
    EXPECT_EQ(value(0), 0U);
    EXPECT_EQ(value(1), 0U);
}

enum class OrderedBy { Nothing, Dependency, Capture };

/// The graph has two kernels. The parameter is what orders them.
class GraphOrderTest : public GraphTest, public testing::WithParamInterface<OrderedBy> {};
INSTANTIATE_TEST_SUITE_P(By, GraphOrderTest,
                         testing::Values(OrderedBy::Nothing, OrderedBy::Dependency, OrderedBy::Capture));

TEST_P(GraphOrderTest, OnlyDependenciesAndCapturesOrderNodes) {
    const OrderedBy by = GetParam();
    const auto set = [this](unsigned value) { kernSet<<<1, 1, 0, stream>>>(numbers.data(), value); };
    capture(graph, [&] {
        set(1);
        if (by == OrderedBy::Capture) {
            set(2);
        }
    });
    if (by != OrderedBy::Capture) {
        const auto after = by == OrderedBy::Dependency ? nodesOf(graph) : std::vector<cudaGraphNode_t>{};
        capture(
            graph, [&] { set(2); }, after);
    }
    ASSERT_EQ(instantiate(), cudaSuccess);
    int swapped = 0;
    for (int seed = 1; seed <= 100; ++seed) {
        Simulator::configure("seed=" + std::to_string(seed));
        launch();
        swapped += value() == 1 ? 1 : 0;
    }
    if (by == OrderedBy::Nothing) {
        EXPECT_GT(swapped, 20);
    } else {
        EXPECT_EQ(swapped, 0);
    }
}

TEST_F(GraphTest, WithoutADefaultTheConditionIsUndefined) {
    cudaGraphConditionalHandle handle = 0;
    ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph), cudaSuccess);
    const cudaGraph_t body = addLoop(graph, handle);
    capture(body, [&] {
        kernSet<<<1, 1, 0, stream>>>(numbers.data(), 1);
        kernCountDown<<<1, 1, 0, stream>>>(handle, numbers.data());
        kernAdd<<<1, 1, 0, stream>>>(numbers.data() + 1, 1);
    });
    ASSERT_EQ(instantiate(), cudaSuccess);
    for (int seed = 1; seed <= 100; ++seed) {
        Simulator::configure("seed=" + std::to_string(seed));
        launch();
    }
    EXPECT_GT(value(1), 20U);
    EXPECT_LT(value(1), 80U);
}

TEST_F(GraphTest, WhatIsRefused) {
    cudaGraphNode_t node = nullptr;
    const auto statusOf = [&](cudaGraphNodeParams params, const std::vector<cudaGraphNode_t>& after = {}) {
        const cudaError_t status = cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &params);
        EXPECT_EQ(cudaGetLastError(), status);
        return status;
    };
    const auto handle = condition(0);
    cudaGraphNodeParams params = loopParams(handle);
    params.conditional.size = 2;
    EXPECT_EQ(statusOf(params), cudaErrorInvalidValue);
    params = loopParams(0);
    EXPECT_EQ(statusOf(params), cudaErrorInvalidValue);
    params.conditional.type = cudaGraphCondTypeSwitch;
    EXPECT_EQ(statusOf(params), cudaErrorNotSupported);

    const cudaGraph_t body = addLoop(graph, handle);
    const cudaGraphNode_t loop = nodesOf(graph).front();
    cudaGraphNode_t inside = nullptr;
    params = loopParams(condition(0));
    ASSERT_EQ(cudaGraphAddNode(&inside, body, nullptr, nullptr, 0, &params), cudaSuccess);
    EXPECT_EQ(statusOf(loopParams(condition(0)), {inside}), cudaErrorInvalidValue) << "a node of another graph";
    EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream, body, &loop, nullptr, 1, cudaStreamCaptureModeThreadLocal),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);

    ASSERT_EQ(instantiate(), cudaSuccess);
    cudaGraphExec_t second = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&second, graph), cudaErrorInvalidValue) << "a graph with loops has one instance";
    cudaGraphExecDestroy(executable);
    ASSERT_EQ(instantiate(), cudaSuccess);
    cudaGetLastError();
}

TEST_F(GraphTest, ALoopWaitsForNoOtherStream) {
    const CudaStream other;
    CudaEvent event;
    kernSet<<<1, 1, 0, other>>>(numbers.data(), 1);
    event.record(other);
    const cudaGraph_t body = addLoop(graph, condition(1));
    capture(body, [&] { event.holdBack(stream); });
    EXPECT_EQ(instantiate(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    executable = nullptr;
}

}  // namespace
}  // namespace StreamCompaction::Testing
