# Benchmarks: build/tests/bench_*. Built with everything else so that they cannot rot, never run by ctest: their figures
# only mean something on a quiet machine and in a release build.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench_*.c)
set(bench_layers "")
foreach(layer plots run cost scaling routing cluster replica traffic io engine)
  if(TARGET peaksim_${layer})
    list(APPEND bench_layers peaksim_${layer})
  endif()
endforeach()
foreach(source ${bench_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE peaksim_test_support ${bench_layers})
endforeach()
