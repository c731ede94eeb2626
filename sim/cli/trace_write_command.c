#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/trace_commands.h"
#include "sim/io/quantity.h"
#include "sim/run/csv_writer.h"
#include "sim/run/scenario.h"

/* A trace that appears whole or not at all: written beside its place, then renamed. */
struct trace_file {
    const char *path;
    char partial[4096];
    FILE *file;
    struct csv_writer csv;
};

static int file_open(struct trace_file *f, const char *path, struct error *err)
{
    if (!path)
        return error_set(err, ERROR_USAGE, "trace", "-o FILE is missing: where to write the trace");
    f->path = path;
    if (snprintf(f->partial, sizeof f->partial, "%s.partial-%ld", path, (long)getpid()) >=
        (int)sizeof f->partial)
        return error_set(err, ERROR_USAGE, path, "the path is too long");
    f->file = fopen(f->partial, "wb");
    if (!f->file)
        return error_set(err, ERROR_SYSTEM, path, "cannot be written: %s", strerror(errno));
    csv_writer_init(&f->csv, f->file);
    return 0;
}

/* Ends it: result < 0 throws it away. */
static int file_close(struct trace_file *f, int result, struct error *err)
{
    bool bad = ferror(f->file) != 0;

    bad = fclose(f->file) != 0 || bad;
    if (result == 0 && (bad || rename(f->partial, f->path) != 0))
        result = error_set(err, ERROR_SYSTEM, f->path, "could not be written whole: %s", strerror(errno));
    if (result < 0)
        unlink(f->partial);
    return result;
}

static void request_header(struct csv_writer *csv)
{
    csv_text(csv, "time_s");
    csv_text(csv, "tokens_in");
    csv_text(csv, "tokens_out");
    csv_text(csv, "work_s");
    csv_end(csv);
}

static void request_row(struct csv_writer *csv, sim_time at, int32_t in, int32_t out, int64_t work_ns)
{
    csv_seconds(csv, at);
    csv_integer(csv, in);
    csv_integer(csv, out);
    csv_seconds(csv, work_ns); /* none: an empty field */
    csv_end(csv);
}

static int time_of(const char *text, const char *option, sim_time missing, sim_time *out, struct error *err)
{
    struct error detail = {.code = ERROR_NONE};

    *out = missing;
    if (text && quantity_time(text, out, &detail) < 0)
        return error_set(err, ERROR_USAGE, option, "%s", detail.message);
    return 0;
}

/* The earliest time of a trace, which need not be its first record's. */
static int earliest(const struct trace_spec *spec, int64_t *zero, struct error *err)
{
    struct trace_reader *reader;
    struct trace_record record;
    int got;

    *zero = INT64_MAX;
    if (trace_open(spec, &reader, err) < 0)
        return -1;
    while ((got = trace_next(reader, &record, err)) > 0)
        *zero = record.at < *zero ? record.at : *zero;
    trace_close(reader);
    return got;
}

static int slice(const struct trace_spec *spec, int64_t zero, sim_time from, sim_time to,
                 struct csv_writer *csv, int64_t *rows, struct error *err)
{
    bool counts = trace_spec_type(spec)->kind == TRACE_COUNTS;
    struct trace_reader *reader;
    struct trace_record record;
    int got;

    if (trace_open(spec, &reader, err) < 0)
        return -1;
    if (counts) {
        csv_text(csv, "time_s");
        csv_text(csv, "width_s");
        csv_text(csv, "count");
        csv_end(csv);
    } else {
        request_header(csv);
    }
    while ((got = trace_next(reader, &record, err)) > 0) {
        sim_time at = record.at - zero;

        if (at < from || at >= to)
            continue;
        ++*rows;
        if (!counts) {
            request_row(csv, at - from, record.tokens_in, record.tokens_out, record.work_ns);
            continue;
        }
        csv_seconds(csv, at - from);
        csv_seconds(csv, record.width);
        csv_number(csv, record.count);
        csv_end(csv);
    }
    trace_close(reader);
    return got;
}

int trace_command_slice(const struct trace_options *options, struct error *err)
{
    struct trace_spec *spec;
    struct trace_file file;
    sim_time from, to;
    int64_t zero, rows = 0;
    int result = -1;

    if (time_of(options->from, "--from", 0, &from, err) < 0 ||
        time_of(options->to, "--to", SIM_NEVER, &to, err) < 0)
        return -1;
    if (from >= to)
        return error_set(err, ERROR_USAGE, "trace slice", "--from must be before --to");
    if (trace_spec_from_path(options->path, options->as, &spec, err) < 0)
        return -1;
    if (earliest(spec, &zero, err) == 0 && file_open(&file, options->out, err) == 0)
        result = file_close(&file, slice(spec, zero, from, to, &file.csv, &rows, err), err);
    trace_spec_free(spec);
    if (result == 0)
        printf("%s: %lld rows\n", options->out, (long long)rows);
    return result;
}

/* ---- synth ---- */

static int service_find(const struct scenario *scenario, const char *name, int32_t *found, struct error *err)
{
    const char *names[64];

    for (int32_t i = 0; i < scenario->service_count; i++) {
        names[i] = scenario->services[i].name;
        if (name ? strcmp(name, names[i]) == 0 : scenario->service_count == 1) {
            *found = i;
            return 0;
        }
    }
    if (!name)
        return error_set(err, ERROR_USAGE, "trace synth",
                         "the scenario has several services; choose one with --service");
    {
        const char *near = nearest_name(name, names, (size_t)scenario->service_count);

        return error_set(err, ERROR_USAGE, "trace synth", "no service is called \"%s\"%s%s%s", name,
                         near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
}

static int arrivals_write(const struct scenario *scenario, int32_t service, uint64_t replication,
                          struct csv_writer *csv, int64_t *rows, struct error *err)
{
    const struct scenario_service *s = &scenario->services[service];
    struct traffic_stream *stream;
    struct arrival arrival;
    int got;

    if (traffic_open(s->traffic, scenario->seed, s->name, replication, &stream, err) < 0)
        return -1;
    request_header(csv);
    while ((got = traffic_next(stream, &arrival, err)) > 0) {
        request_row(csv, arrival.at, arrival.tokens_in, arrival.tokens_out, arrival.work_ns);
        ++*rows;
    }
    traffic_close(stream);
    return got;
}

int trace_command_synth(const struct trace_options *options, struct error *err)
{
    const struct scenario_overrides overrides = {.seed = options->seed};
    struct scenario scenario;
    struct trace_file file;
    int64_t replication = 0, rows = 0;
    int32_t service = 0;
    int result = -1;

    if (options->replication &&
        (quantity_integer(options->replication, &replication, err) < 0 || replication < 0))
        return error_set(err, ERROR_USAGE, "--replication", "a whole number from 0 on is needed");
    if (scenario_read(options->path, &overrides, &scenario, err) < 0)
        return -1;
    if (service_find(&scenario, options->service, &service, err) == 0 &&
        file_open(&file, options->out, err) == 0)
        result = file_close(
            &file, arrivals_write(&scenario, service, (uint64_t)replication, &file.csv, &rows, err), err);
    scenario_free(&scenario);
    if (result == 0)
        printf("%s: %lld rows\n", options->out, (long long)rows);
    return result;
}
