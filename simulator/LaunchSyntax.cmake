# g++ does not know the launch syntax kernel<<<shape>>>(arguments). So sources with launches are copied, and each launch
# becomes Simulator::chevrons(name, [=](auto... a) { kernel(a...); }, shape)(arguments). Lines keep their numbers and
# their file name.

set(simulatedSources ${PROJECT_BINARY_DIR}/simulated_sources)

function(stream_compaction_rewrite_launches source)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(READ ${source} text)
    # A CMake list would split the text at semicolons and count brackets. Here the text is one quoted string.
    string(REGEX REPLACE "([A-Za-z_][A-Za-z_0-9:]*(<[A-Za-z_0-9:, ]*>)?)([ \n]*)<<<([^;]*)>>>[(]"
           "Simulator::chevrons(\"\\1\", [=](auto... a) { \\1(a...); },\\3\\4)(" text "${text}")
    set(copy ${simulatedSources}/${relative})
    if(copy MATCHES "[.]cu$")
        string(APPEND copy ".cpp")
    endif()
    file(CONFIGURE OUTPUT ${copy} CONTENT "#line 1 \"${source}\"\n@text@" @ONLY)
endfunction()

# Kernels are optimised as far as compile time allows, and not at all in a Debug build, so that a debugger sees every
# variable. Before each access to memory g++ calls a function of the executor, unless a sanitizer watches. Kernels may
# store to arrays by wider types, as on a real card.
set(STREAM_COMPACTION_SIMULATED_KERNEL_OPTIONS -O1 -g1 -Wno-unused-function)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(STREAM_COMPACTION_SIMULATED_KERNEL_OPTIONS -O0 -g -Wno-unused-function)
endif()
if(STREAM_COMPACTION_SIMULATOR_WATCHES STREQUAL "RACES")
    list(APPEND STREAM_COMPACTION_SIMULATED_KERNEL_OPTIONS -fsanitize=thread)
elseif(STREAM_COMPACTION_SIMULATOR_WATCHES STREQUAL "ADDRESSES")
    list(APPEND STREAM_COMPACTION_SIMULATED_KERNEL_OPTIONS -fsanitize=address,undefined -fno-sanitize-recover=all)
else()
    list(APPEND STREAM_COMPACTION_SIMULATED_KERNEL_OPTIONS
         -fsanitize=kernel-address --param=asan-instrumentation-with-call-threshold=0
         --param=asan-stack=0 --param=asan-globals=0)
endif()

# All headers and sources that may have launches.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/stream_compaction/*.cu*
     ${PROJECT_SOURCE_DIR}/src/*.cu* ${PROJECT_SOURCE_DIR}/tests/*.cu* ${PROJECT_SOURCE_DIR}/examples/*.cu*
     ${PROJECT_SOURCE_DIR}/tools/explore/*.cu)
set(simulatedFolders "")
foreach(source IN LISTS sources)
    stream_compaction_rewrite_launches(${source})
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND simulatedFolders ${folder})
endforeach()
list(REMOVE_DUPLICATES simulatedFolders)

# Replaces the CUDA C++ sources of a target by the copies, and sets their compile options.
function(stream_compaction_simulate target)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
    # Plain headers stay beside the original sources.
    set(headers ${simulatedFolders})
    list(FILTER headers INCLUDE REGEX "^${folder}(/|$)")
    set(replaced "")
    foreach(source IN LISTS sources)
        if(source MATCHES "[.]cu$")
            set(copy ${simulatedSources}/${relative}/${source}.cpp)
            set_source_files_properties(${copy} PROPERTIES
                COMPILE_OPTIONS "${STREAM_COMPACTION_SIMULATED_KERNEL_OPTIONS}"
                INCLUDE_DIRECTORIES "${headers}")
            list(APPEND replaced ${copy})
        else()
            list(APPEND replaced ${source})
        endif()
    endforeach()
    set_target_properties(${target} PROPERTIES SOURCES "${replaced}")
    target_include_directories(${target} BEFORE PRIVATE ${simulatedSources} ${simulatedSources}/${relative})
endfunction()
