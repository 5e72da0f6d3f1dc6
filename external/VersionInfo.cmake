# Writes version_info.cpp; runs as a script at build time. "-dirty" marks a commit with uncommitted changes.

execute_process(COMMAND git describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    set(GIT_COMMIT unknown)
endif()
execute_process(COMMAND git log -1 --format=%cs OUTPUT_VARIABLE GIT_DATE OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET)
if(NOT GIT_DATE)
    string(TIMESTAMP GIT_DATE "%Y-%m-%d" UTC)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
