# Third-party libraries: an installed copy if there is one, otherwise the source by FetchContent.

include(FetchContent)

function(stream_compaction_dependency name tag url)
    FetchContent_Declare(${name} GIT_REPOSITORY ${url} GIT_TAG ${tag} GIT_SHALLOW ON ${ARGN})
endfunction()

find_package(Threads REQUIRED)

# oneTBB runs the CPU variants on all cores.
set(TBB_TEST OFF)
stream_compaction_dependency(TBB v2021.13.0 https://github.com/oneapi-src/oneTBB.git FIND_PACKAGE_ARGS)
FetchContent_MakeAvailable(TBB)

# Highway's vectorised quicksort; without it oneTBB sorts.
find_package(hwy QUIET)
if(TARGET hwy::hwy_contrib)
    set(STREAM_COMPACTION_HAS_HIGHWAY ON)
else()
    message(STATUS "Highway was not found: CPU::parallelSort uses oneTBB")
    set(STREAM_COMPACTION_HAS_HIGHWAY OFF)
endif()

# NCCL, for arrays that are spread over several GPUs. The simulator has its own.
set(STREAM_COMPACTION_HAS_NCCL ${STREAM_COMPACTION_SIMULATED})
if(STREAM_COMPACTION_HAS_CUDA AND NOT STREAM_COMPACTION_SIMULATED)
    list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
    find_package(NCCL 2.28 QUIET)
    set(STREAM_COMPACTION_HAS_NCCL ${NCCL_FOUND})
    if(NOT NCCL_FOUND)
        message(STATUS "Several GPUs are not supported: NCCL 2.28 or newer was not found (NCCL_ROOT may name its folder)")
    endif()
endif()

# MPI starts the program's ranks in several processes. In the simulator, NCCL's ranks talk through it.
if(STREAM_COMPACTION_HAS_NCCL)
    find_package(MPI QUIET COMPONENTS CXX)
    if(NOT MPI_CXX_FOUND)
        message(STATUS "Ranks in several processes are not supported: MPI (Debian's libopenmpi-dev) was not found")
    endif()
endif()

if(STREAM_COMPACTION_PROGRAM OR STREAM_COMPACTION_EXAMPLES)
    stream_compaction_dependency(CLI11 v2.4.2 https://github.com/CLIUtils/CLI11.git FIND_PACKAGE_ARGS 2)
    FetchContent_MakeAvailable(CLI11)
endif()

if(STREAM_COMPACTION_PROGRAM)
    stream_compaction_dependency(fmt 11.0.2 https://github.com/fmtlib/fmt.git FIND_PACKAGE_ARGS 9)
    set(JSON_Install OFF)
    stream_compaction_dependency(nlohmann_json v3.11.3 https://github.com/nlohmann/json.git FIND_PACKAGE_ARGS 3)
    FetchContent_MakeAvailable(fmt nlohmann_json)
    # Peers of the text conversions.
    find_package(Iconv)
    if(STREAM_COMPACTION_SIMDUTF)
        set(SIMDUTF_TESTS OFF)
        set(SIMDUTF_TOOLS OFF)
        stream_compaction_dependency(simdutf v8.2.0 https://github.com/simdutf/simdutf.git FIND_PACKAGE_ARGS)
        FetchContent_MakeAvailable(simdutf)
    else()
        find_package(simdutf QUIET)
    endif()
endif()

if(STREAM_COMPACTION_TESTS)
    set(INSTALL_GTEST OFF)
    stream_compaction_dependency(GTest v1.15.2 https://github.com/google/googletest.git FIND_PACKAGE_ARGS)
    FetchContent_MakeAvailable(GTest)
endif()
