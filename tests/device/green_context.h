#pragma once

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction::Testing {

/// With STREAM_COMPACTION_GREEN_CONTEXT=8 all tests run on 8 multiprocessors of the card, or as few more as it allows.
/// The card still reports all of them, so it refuses launches whose blocks are to be resident at once.
class GreenContext : public testing::Environment {
  public:
    void SetUp() override {
        const char* const wanted = std::getenv("STREAM_COMPACTION_GREEN_CONTEXT");
        if (wanted == nullptr) {
            return;
        }
        Common::checkCUDAError(cudaFree(nullptr), "cudaFree, which begins the primary context");
        CUdevResource whole{};
        call<PFN_cuDeviceGetDevResource_v12040>("cuDeviceGetDevResource", CUdevice{0}, &whole, CU_DEV_RESOURCE_TYPE_SM);
        CUdevResource part{};
        unsigned parts = 1;
        call<PFN_cuDevSmResourceSplitByCount_v12040>("cuDevSmResourceSplitByCount", &part, &parts, &whole, nullptr, 0U,
                                                     static_cast<unsigned>(std::stoi(wanted)));
        CUdevResourceDesc description{};
        call<PFN_cuDevResourceGenerateDesc_v12040>("cuDevResourceGenerateDesc", &description, &part, 1U);
        CUgreenCtx green{};
        call<PFN_cuGreenCtxCreate_v12040>("cuGreenCtxCreate", &green, description, CUdevice{0},
                                          static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM));
        CUcontext context{};
        call<PFN_cuCtxFromGreenCtx_v12040>("cuCtxFromGreenCtx", &context, green);
        call<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", context);  // until the program ends
        std::cout << "a green context of " << part.sm.smCount << " multiprocessors\n";
    }

  private:
    /// Calls a function of the driver.
    template <typename Function, typename... Arguments>
    static void call(const char* name, Arguments... arguments) {
        constexpr unsigned firstWithGreenContexts = 12040;  // CUDA 12.4
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found{};
        Common::checkCUDAError(
            cudaGetDriverEntryPointByVersion(name, &function, firstWithGreenContexts, cudaEnableDefault, &found), name);
        if (found != cudaDriverEntryPointSuccess) {
            throw std::runtime_error(std::string(name) + ": the driver does not have it");
        }
        if (const CUresult status = reinterpret_cast<Function>(function)(arguments...); status != CUDA_SUCCESS) {
            throw std::runtime_error(std::string(name) + ": error " + std::to_string(status));
        }
    }
};

inline testing::Environment* const greenContext = testing::AddGlobalTestEnvironment(new GreenContext);

}  // namespace StreamCompaction::Testing
