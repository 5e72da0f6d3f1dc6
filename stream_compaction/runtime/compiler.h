#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "stream_compaction needs C++20: pass -std=c++20"
#endif

/// `__host__ __device__` marks functions that host and device share. Where there is no CUDA the words mean nothing.
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#if (defined(__CUDACC__) || defined(STREAM_COMPACTION_HAS_CUDA)) && CUDART_VERSION < 12090
#error "stream_compaction needs CUDA 12.9 or newer"
#endif
#else
#define __host__
#define __device__
#endif
