# Finds what answers is built on, then answers itself.
include(CMakeFindDependencyMacro)
find_dependency(vow 0.1)
include(${CMAKE_CURRENT_LIST_DIR}/answersTargets.cmake)
