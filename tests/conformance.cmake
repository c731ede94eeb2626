# Runners of vectors from real systems: build/tests/NAME FILE... ; each is tested on our own small files, which run always, and on
# those of ../shared, which are skipped where they are absent.

add_library(peaksim_vectors STATIC conformance/vectors.c)
target_include_directories(peaksim_vectors PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(peaksim_vectors PUBLIC PkgConfig::FYAML m)
foreach(layer io engine)
  if(TARGET peaksim_${layer})
    target_link_libraries(peaksim_vectors PUBLIC peaksim_${layer})
  endif()
endforeach()

# peaksim_conformance(name SOURCES more.c... LIBRARIES ... OWN ours.json... SHARED theirs.json...)
# Builds conformance/NAME.c with SOURCES. OWN are in conformance/own, SHARED in ../shared.
function(peaksim_conformance name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;OWN;SHARED" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND conformance/)
  list(TRANSFORM arg_OWN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/conformance/own/)
  list(TRANSFORM arg_SHARED PREPEND ${PEAKSIM_SHARED}/)
  add_executable(${name} conformance/${name}.c ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE peaksim_test_support ${arg_LIBRARIES} peaksim_vectors)
  if(arg_OWN)
    add_test(NAME ${name}_own COMMAND ${name} ${arg_OWN})
    peaksim_register(${name}_own)
  endif()
  if(arg_SHARED)
    add_test(NAME ${name}_shared COMMAND ${name} --skip-absent ${name} ${arg_SHARED})
    peaksim_register(${name}_shared)
  endif()
endfunction()

if(TARGET peaksim_scaling)
  peaksim_conformance(conformance_hpa
    SOURCES hpa_vectors.c hpa_vectors_metric.c hpa_vectors_behavior.c hpa_vectors_reconcile.c
    LIBRARIES peaksim_scaling
    OWN hpa.json
    SHARED conformance/hpa_replica_calculator.json conformance/hpa_behavior.json conformance/hpa_controller.json
           conformance/hpa_fuzz_calc.json conformance/hpa_fuzz_behavior.json conformance/hpa_fuzz_reconcile.json)
  peaksim_conformance(conformance_kpa LIBRARIES peaksim_scaling OWN kpa.json SHARED conformance/kpa.json conformance/kpa_fuzz.json)
  peaksim_conformance(conformance_keda LIBRARIES peaksim_scaling OWN keda.json SHARED conformance/keda.json)
endif()

if(TARGET peaksim_replica)
  peaksim_conformance(conformance_batching
    LIBRARIES peaksim_replica
    SHARED reference/random_exact.json reference/c01_single.json reference/c02_staggered_mixed.json
           reference/c03_chunked_prefill_budget256.json reference/c04_max_num_seqs_2.json
           reference/c05_kv_admission_block.json reference/c06_kv_preemption_recompute.json
           reference/c08_prefix_cache.json reference/c09_context_term.json reference/c11_reserve_full_isl.json
           reference/r01_real_vllm_RTXPRO6000_Llama-3.1-8B.json reference/r03_real_vllm_RTX4090_Llama-3.1-8B.json)
endif()
