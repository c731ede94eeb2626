#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/engine/random.h"
#include "sim/run/scenario.h"
#include "sim/run/world.h"

/* Whole runs against queueing theory and against the Kiefer-Wolfowitz recursion, request by request. */

static void scenario_make(const char *text, struct scenario *scenario)
{
    struct error err = {.code = ERROR_NONE};
    struct document *document;

    if (document_read_text(text, strlen(text), "test", &document, &err) < 0 ||
        scenario_from_document(document, scenario, &err) < 0)
        fail_msg("%s: %s", err.place, err.message);
}

/* A central first-come-first-served queue before `servers` replicas of one slot. */
static void pool_make(int servers, const char *traffic, const char *serve, int hours,
                      struct scenario *scenario)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{\"name\": \"pool\", \"duration\": \"%dh\", \"warmup\": \"30m\", \"seed\": 20261204,"
             " \"services\": [{\"name\": \"queue\", \"traffic\": {\"synth\": %s},"
             " \"replica\": {\"serve\": %s}, \"routing\": {\"queue\": {\"where\": \"central\"}}, "
             "\"initial\": %d}],"
             " \"cluster\": {\"nodes\": [{\"type\": \"n\", \"gpus\": 1, \"min\": %d, \"max\": %d, "
             "\"provision\": \"1m\"}]},"
             " \"strategies\": [{\"name\": \"fixed\", \"fixed\": {\"replicas\": %d}}]}",
             hours, traffic, serve, servers, servers, servers, servers);
    scenario_make(text, scenario);
}

/* ---- Kiefer and Wolfowitz, "On the Theory of Queues with Many Servers", Trans. AMS 78, 1955 ---- */

enum { CUSTOMERS = 200000, SERVERS = 64 };

struct starts {
    sim_time *started;
    int64_t count;
};

static void see_start(void *to, const struct job *job)
{
    struct starts *starts = to;

    starts->started[job->request] = job->started;
    starts->count++;
}

static void pool_is_recursion(int servers)
{
    struct arrival *arrivals = calloc(CUSTOMERS, sizeof *arrivals);
    struct starts starts = {calloc(CUSTOMERS, sizeof(sim_time)), 0};
    sim_time free_at[SERVERS] = {0};
    struct error err = {.code = ERROR_NONE};
    struct scenario scenario;
    struct traffic *traffic;
    struct outcome outcome;
    struct world_options options = {.request = see_start, .request_to = &starts};
    uint64_t key = random_key(7, "kw", "test", (uint64_t)servers);
    sim_time at = 0;

    assert_non_null(arrivals);
    assert_non_null(starts.started);
    for (int i = 0; i < CUSTOMERS; i++) {
        double u = random_uniform_of(random_key_ordinal(key, 2 * (uint64_t)i)),
               v = random_uniform_of(random_key_ordinal(key, 2 * (uint64_t)i + 1));

        at += (sim_time)(-log1p(-u) * 1e9 / servers / 0.9);
        arrivals[i] = (struct arrival){.at = at, .work_ns = 1 + (int64_t)(-log1p(-v) * 1e9)};
    }
    pool_make(servers, "{\"rate\": \"1/s\", \"sizes\": {\"work\": \"1s\"}}",
              "{\"slots\": {\"count\": 1, \"speed\": 1}}", 100, &scenario);
    assert_int_equal(traffic_from_array(arrivals, CUSTOMERS, &traffic, &err), 0);
    options.traffic = traffic;
    options.duration = at + 1;
    options.warmup = 0;
    if (world_run(&scenario, 0, 0, NULL, &options, &outcome, &err) < 0)
        fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(starts.count, CUSTOMERS);
    for (int i = 0; i < CUSTOMERS; i++) {
        int first = 0;
        sim_time start;

        for (int k = 1; k < servers; k++)
            if (free_at[k] < free_at[first])
                first = k;
        start = free_at[first] > arrivals[i].at ? free_at[first] : arrivals[i].at;
        free_at[first] = start + arrivals[i].work_ns;
        assert_int_equal(starts.started[i], start);
    }
    outcome_free(&outcome);
    traffic_free(traffic);
    scenario_free(&scenario);
    free(starts.started);
    free(arrivals);
}

static void one_server_is_the_recursion(void **state)
{
    (void)state;
    pool_is_recursion(1);
}

static void three_servers_are_the_recursion(void **state)
{
    (void)state;
    pool_is_recursion(3);
}

static void sixty_four_servers_are_the_recursion(void **state)
{
    (void)state;
    pool_is_recursion(64);
}

/* ---- means ---- */

enum { REPLICATIONS = 10, CHECKS = 9 };
/* Student's t with 9 degrees of freedom, two-sided at 0.001 / CHECKS (Bonferroni). */
static const double T = 6.503;

static void mean_wait_is(const char *what, int servers, const char *traffic, const char *serve, int hours,
                         double expected)
{
    double sum = 0, squares = 0, mean, error;
    struct scenario scenario;

    pool_make(servers, traffic, serve, hours, &scenario);
    for (int r = 0; r < REPLICATIONS; r++) {
        struct error err = {.code = ERROR_NONE};
        struct world_options options = {.keep = false};
        struct outcome outcome;
        double wait;

        if (world_run(&scenario, 0, r, NULL, &options, &outcome, &err) < 0)
            fail_msg("%s: %s", err.place, err.message);
        wait = histogram_mean(&outcome.services[0].wait) / 1e9;
        sum += wait;
        squares += wait * wait;
        outcome_free(&outcome);
    }
    scenario_free(&scenario);
    mean = sum / REPLICATIONS;
    error = sqrt(fmax(squares / REPLICATIONS - mean * mean, 0) / (REPLICATIONS - 1));
    print_message("%s: mean wait %.5f s, theory %.5f s, standard error %.5f s\n", what, mean, expected,
                  error);
    assert_true(fabs(mean - expected) <= T * error);
    assert_true(error * 2.26 / mean <= 0.03);
}

/* Erlang's C: Erlang B by its Poisson terms, through GSL's regularized incomplete gamma function. */
static double erlang_wait(int servers, double load, double service)
{
    double offered = load * servers;
    double b = exp(servers * log(offered) - offered - gsl_sf_lngamma(servers + 1.0)) /
               gsl_sf_gamma_inc_Q(servers + 1.0, offered);
    double c = b / (1 - load * (1 - b));

    return c * service / (servers * (1 - load));
}

static void mmc_means(void **state)
{
    static const struct {
        int servers;
        double load;
        int hours;
    } cases[] = {{1, 0.3, 40}, {1, 0.7, 80}, {4, 0.5, 40}, {4, 0.9, 60}, {16, 0.7, 20}, {16, 0.9, 30}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char traffic[64], name[64];

        snprintf(traffic, sizeof traffic, "{\"rate\": \"%.17g/s\"}", cases[i].load * cases[i].servers);
        snprintf(name, sizeof name, "M/M/%d at %.2f", cases[i].servers, cases[i].load);
        mean_wait_is(name, cases[i].servers, traffic,
                     "{\"slots\": {\"count\": 1, \"time\": {\"exponential\": {\"mean\": \"1s\"}}}}",
                     cases[i].hours, erlang_wait(cases[i].servers, cases[i].load, 1));
    }
}

/* Pollaczek and Khinchine: rho (1 + cv^2) / 2 / (1 - rho) services. */
static void mg1_means(void **state)
{
    (void)state;
    mean_wait_is("M/D/1 at 0.7", 1, "{\"rate\": \"0.7/s\"}", "{\"slots\": {\"count\": 1, \"time\": \"1s\"}}",
                 60, 0.7 / 2 / 0.3);
    mean_wait_is("M/G/1 (lognormal, cv 1.5) at 0.6", 1, "{\"rate\": \"0.6/s\"}",
                 "{\"slots\": {\"count\": 1, \"time\": {\"lognormal\": {\"mean\": \"1s\", \"cv\": 1.5}}}}",
                 120, 0.6 * 3.25 / 2 / 0.4);
    mean_wait_is("M/G/1 (gamma, cv 2) at 0.5", 1, "{\"rate\": \"0.5/s\"}",
                 "{\"slots\": {\"count\": 1, \"time\": {\"gamma\": {\"mean\": \"1s\", \"cv\": 2}}}}", 120,
                 0.5 * 5 / 2 / 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_server_is_the_recursion),
        cmocka_unit_test(three_servers_are_the_recursion),
        cmocka_unit_test(sixty_four_servers_are_the_recursion),
        cmocka_unit_test(mmc_means),
        cmocka_unit_test(mg1_means),
    };

    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
