# Build type, language standards and warnings.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    find_program(CCACHE_PROGRAM ccache)
    if(CCACHE_PROGRAM)
        # Paths in the tree are hashed relative to it, so that clones share the cache.
        set(with_ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE_PROGRAM})
        set(CMAKE_CXX_COMPILER_LAUNCHER ${with_ccache})
        set(CMAKE_CUDA_COMPILER_LAUNCHER ${with_ccache})
    endif()
endif()

# Warnings and language standards for a target of this project. Targets of users are not affected.
function(stream_compaction_target_settings target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    # Files are united by stream_compaction_unite alone.
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD OFF)
    if(MSVC)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:/W4>)
    else()
        set(warnings -Wall -Wextra)
        if(STREAM_COMPACTION_WARNINGS_AS_ERRORS)
            list(APPEND warnings -Werror)
        endif()
        # At -O1 GCC warns of uninitialised variables in Thrust.
        string(JOIN "," hostWarnings ${warnings} $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
        target_compile_options(${target} PRIVATE
            $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
            $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${hostWarnings}>)
        if(STREAM_COMPACTION_WARNINGS_AS_ERRORS)
            target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
        endif()
    endif()
    if(STREAM_COMPACTION_SIMULATED)
        stream_compaction_simulate(${target})
        return()
    endif()
    # Of cooperative groups only barriers are used. Without this, their header includes 2.8 MB of libcu++.
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:_CG_LIMIT_INCLUDED_DEPENDENCIES>)
    # Machine code takes less than half of its size. The driver decompresses the kernels that are used, once. Stronger
    # compression would take an eighth of the build.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=balance>)
    if(STREAM_COMPACTION_LINE_INFO)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
    endif()
endfunction()

# Makes the target's sources that match `regex` one file for the compiler. Most of their time goes into headers that they
# share. The file is the same in all clones, as ccache wants it.
function(stream_compaction_unite target name regex)
    if(NOT STREAM_COMPACTION_UNITE_FILES)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    set(parts ${sources})
    list(FILTER parts INCLUDE REGEX "${regex}")
    if(NOT parts)
        message(FATAL_ERROR "${target} has no sources that match ${regex}")
    endif()
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    set(text "")
    foreach(part IN LISTS parts)
        string(APPEND text "#include \"${folder}/${part}\"\n")
    endforeach()
    set(united ${CMAKE_CURRENT_BINARY_DIR}/united/${name})
    file(CONFIGURE OUTPUT ${united} CONTENT "${text}" @ONLY)
    # It takes the place of the first one.
    list(GET parts 0 first)
    list(FIND sources ${first} place)
    list(INSERT sources ${place} ${united})
    list(REMOVE_ITEM sources ${parts})
    set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()
