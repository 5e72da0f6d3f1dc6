#pragma once

// Two ways to render a frame, that is one sample per pixel. They differ in who knows how many rays are alive.

#include <memory>
#include <type_traits>
#include <vector>

#include "path_tracer.cuh"
#include "stream_compaction/cuda_stream.h"
#include "stream_compaction/pinned_array.h"

namespace RayCompaction {

using StreamCompaction::CountInDeviceMemory;
using StreamCompaction::CudaStream;
using StreamCompaction::PinnedArray;

/// Tells nobody how many rays there are.
struct TellsNobody {
    __device__ void operator()(std::size_t, bool) const {}
};

/// The host knows: it reads the number of rays in each bounce, and launches as many threads. Before that it waits for
/// the device, and then the device waits for it.
class HostLoop {
  public:
    explicit HostLoop(PathTracer& tracer) : tracer_(tracer) {}

    void render(const CudaStream& stream) {
        tracer_.generate(stream);
        tracer_.compact(tracer_.pixels(), stream);
        while (const std::size_t rays = raysLeft(stream)) {
            tracer_.sort(rays, stream);
            tracer_.bounce(rays, TellsNobody{}, stream);
            tracer_.compact(rays, stream);
        }
    }

  private:
    /// Waits for the device.
    [[nodiscard]] std::size_t raysLeft(const CudaStream& stream) {
        std::size_t& rays = rays_.elements().front();
        checkCUDAError(cudaMemcpyAsync(&rays, tracer_.left(), sizeof(rays), cudaMemcpyDeviceToHost, stream),
                       "cudaMemcpyAsync");
        stream.synchronize();
        return rays;
    }

    PathTracer& tracer_;
    PinnedArray<std::size_t> rays_{1};
};

/// Decides which loop of a graph goes on: this one as long as there are many rays, then the next one.
struct GoesOn {
    std::size_t fewRays;              ///< the most rays for the next loop; 0 if there is none
    cudaGraphConditionalHandle loop;  ///< the condition of this loop
    cudaGraphConditionalHandle next;  ///< that of the next one, if there is one

    __device__ void operator()(std::size_t rays, bool areLeft) const {
        const bool areMany = rays > fewRays;
        cudaGraphSetConditional(loop, areLeft && areMany ? 1 : 0);
        if (fewRays > 0) {
            cudaGraphSetConditional(next, areLeft && !areMany ? 1 : 0);
        }
    }
};

/// The device knows: the whole frame is one CUDA graph.
///
///     generate -> while (many rays) { compact -> sort -> bounce } -> while (fewer) { the same } -> ...
///
/// The host launches it and can do other work until the frame is done. The price: the shapes of launches are fixed. So
/// the first loop is for all pixels, and each of the others for a quarter of the rays of the one before.
class FrameGraph {
  public:
    /// Builds the graph. It works on the arrays of the path tracer, which has to live as long.
    explicit FrameGraph(PathTracer& tracer) {
        const CudaStream stream;
        cudaGraph_t graph = nullptr;
        checkCUDAError(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
        graph_.reset(graph);

        capture(graph, stream, [&] { tracer.generate(stream); });

        // The first loop always begins. A loop decides whether the next one does.
        cudaGraphConditionalHandle loop = condition(graph, true);
        for (std::size_t mostRays = tracer.pixels(); mostRays > 0;) {
            const std::size_t fewRays = mostRays >= leastToSplit ? mostRays / 4 : 0;
            const cudaGraphConditionalHandle next = fewRays > 0 ? condition(graph, false) : loop;
            const CountInDeviceMemory alive{tracer.alive(), mostRays};
            const CountInDeviceMemory left{tracer.left(), mostRays};
            capture(addLoop(graph, loop), stream, [&] {
                tracer.compact(alive, stream);
                tracer.sort(left, stream);
                tracer.bounce(alive, GoesOn{fewRays, loop, next}, stream);
            });
            mostRays = fewRays;
            loop = next;
        }

        cudaGraphExec_t executable = nullptr;
        checkCUDAError(cudaGraphInstantiate(&executable, graph, 0),
                       "cudaGraphInstantiate: cooperative launches in a loop need a driver of CUDA 12.6 or later");
        executable_.reset(executable);
    }

    void render(const CudaStream& stream) {
        checkCUDAError(cudaGraphLaunch(executable_.get(), stream), "cudaGraphLaunch");
    }

  private:
    static constexpr std::size_t leastToSplit = 1 << 17;  ///< a loop for fewer rays has no next one

    /// A condition that each launch of the graph sets to `value`.
    [[nodiscard]] static cudaGraphConditionalHandle condition(cudaGraph_t graph, bool value) {
        cudaGraphConditionalHandle handle = 0;
        checkCUDAError(cudaGraphConditionalHandleCreate(&handle, graph, value ? 1 : 0, cudaGraphCondAssignDefault),
                       "cudaGraphConditionalHandleCreate");
        return handle;
    }

    /// Adds the work that enqueue() puts into the stream to a graph that has none yet.
    template <typename Enqueue>
    static void capture(cudaGraph_t graph, cudaStream_t stream, const Enqueue& enqueue) {
        checkCUDAError(
            cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
            "cudaStreamBeginCaptureToGraph");
        enqueue();
        checkCUDAError(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    }

    /// Adds a loop behind all nodes of the graph, and returns the graph of its body.
    [[nodiscard]] static cudaGraph_t addLoop(cudaGraph_t graph, cudaGraphConditionalHandle condition) {
        std::size_t count = 0;
        checkCUDAError(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
        std::vector<cudaGraphNode_t> earlier(count);
        checkCUDAError(cudaGraphGetNodes(graph, earlier.data(), &count), "cudaGraphGetNodes");

        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeConditional;
        params.conditional.handle = condition;
        params.conditional.type = cudaGraphCondTypeWhile;
        params.conditional.size = 1;
        cudaGraphNode_t loop = nullptr;
#if CUDART_VERSION >= 13000
        checkCUDAError(cudaGraphAddNode(&loop, graph, earlier.data(), nullptr, count, &params), "cudaGraphAddNode");
#else
        checkCUDAError(cudaGraphAddNode(&loop, graph, earlier.data(), count, &params), "cudaGraphAddNode");
#endif
        return params.conditional.phGraph_out[0];
    }

    struct Destroy {
        void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
    };
    struct DestroyExecutable {
        void operator()(cudaGraphExec_t executable) const { cudaGraphExecDestroy(executable); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, Destroy> graph_;
    std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExecutable> executable_;
};

}  // namespace RayCompaction
