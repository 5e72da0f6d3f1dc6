# Writes version_info.cpp; runs as a script at build time. "-dirty" marks a commit with uncommitted changes.

execute_process(COMMAND git describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    set(GIT_COMMIT unknown)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
