// The course layer: arrays in host memory, plain C++.
#include <stream_compaction/cpu.h>
#include <stream_compaction/shared_mem.h>

#include <cstdio>
#include <vector>

int main() {
    const std::vector<int> in{3, 0, 1, 4, 0, 0, 1, 5};
    std::vector<int> out(in.size());
    const int n = static_cast<int>(in.size());

    // On the GPU if there is one, else on the CPU.
    const auto reason = StreamCompaction::Common::cudaUnavailableReason();
    const int kept = reason ? StreamCompaction::CPU::compactWithoutScan(n, out.data(), in.data())
                            : StreamCompaction::SharedMem::compact(n, out.data(), in.data());

    std::printf("kept %d of %d on the %s:", kept, n, reason ? "CPU" : "GPU");
    for (int i = 0; i < kept; ++i) {
        std::printf(" %d", out[i]);
    }
    std::printf("\n");
}
