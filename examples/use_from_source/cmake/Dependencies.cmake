# A module of this project's own; that the library has a file of the same name does not matter.
find_package(Threads REQUIRED)
