#include "plots/plot_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/plot_script.h"

struct plot_axis plot_time_axis(double horizon_s)
{
    static const double minutes[] = {0.25, 0.5, 1, 2, 5, 10, 15, 30}, hours[] = {0.25, 0.5, 1, 2, 3, 6, 12};
    static const double days[] = {0.5, 1, 2, 7, 14, 30, 90, 365};
    struct plot_axis axis = {60, "time (min)", 0};
    const double *steps = minutes;
    size_t count = sizeof minutes / sizeof minutes[0];

    if (horizon_s > 4 * 86400) {
        axis = (struct plot_axis){86400, "time (days)", 0};
        steps = days;
        count = sizeof days / sizeof days[0];
    } else if (horizon_s > 7200) {
        axis = (struct plot_axis){3600, "time (h)", 0};
        steps = hours;
        count = sizeof hours / sizeof hours[0];
    }
    for (size_t i = 0; i < count && axis.step <= 0; i++)
        if (horizon_s / axis.unit_s / steps[i] <= 13)
            axis.step = steps[i];
    if (axis.step <= 0)
        axis.step = steps[count - 1];
    return axis;
}

/* ---- what several pictures need ---- */

/* Room for a legend of more than three rows is added. */
static int legend_height(int rows)
{
    return PLOT_HEIGHT + (rows > 3 ? 26 * (rows - 3) : 0);
}

/* Panels one above the other. */
static int panels_height(const struct plot_data *data)
{
    return data->strategy_count <= 3 ? PLOT_HEIGHT : 200 + 180 * data->strategy_count;
}

static int latency_legend(const struct plot_data *data)
{
    return (data->strategy_count + 3) / 2; /* names and two marks, two a row */
}

static int latency_height(const struct plot_data *data)
{
    return legend_height(latency_legend(data));
}

/* Names, colours and dashes of the strategies as arrays. */
static void write_strategies(const struct plot_data *data, FILE *script, const char *const *suffixes)
{
    fprintf(script, "n = %d\narray titles[%d]\narray colors[%d]\narray dashes[%d]\narray shapes[%d]\n",
            (int)data->strategy_count, (int)data->strategy_count, (int)data->strategy_count,
            (int)data->strategy_count, (int)data->strategy_count);
    for (int32_t s = 0; s < data->strategy_count; s++) {
        static const int shapes[] = {7, 5, 9, 11, 13, 6, 4};

        fprintf(script, "titles[%d] = ", (int)s + 1);
        plot_quote(script, data->strategies[s].name, PLOT_LEGEND_CHARACTERS);
        if (suffixes && suffixes[s]) {
            fputs(" . ", script);
            plot_quote(script, suffixes[s], PLOT_HEADING_CHARACTERS);
        }
        fprintf(script, "\ncolors[%d] = '%s'\ndashes[%d] = %d\nshapes[%d] = %d\n", (int)s + 1,
                plot_strategy_color(s), (int)s + 1, plot_strategy_dash(s), (int)s + 1,
                shapes[(s + s / 7) % 7]);
    }
}

/* The legend's line of the SLO, or what the SLO is instead of a bound on the P99 latency. */
static void write_slo(const struct plot_service *service, FILE *script)
{
    char text[160] = "no SLO";

    if (service->slo_text[0])
        snprintf(text, sizeof text, "SLO: %s", service->slo_text);
    plot_set_number(script, "slo", service->slo_s);
    plot_set_text(script, "slo_title", text, PLOT_LEGEND_CHARACTERS + 14);
}

static double bin_time(const struct plot_data *data, int32_t bin, double share)
{
    return ((double)bin + share) * data->horizon_s / data->bins / plot_time_axis(data->horizon_s).unit_s;
}

/* The next of ..., 1, 2, 5, 10, ... below (or above) value. */
static double nice_below(double value)
{
    double decade = pow(10, floor(log10(value)));

    return value >= 5 * decade ? 5 * decade : value >= 2 * decade ? 2 * decade : decade;
}

static double nice_above(double value)
{
    double decade = pow(10, floor(log10(value)));

    return value <= decade       ? decade
           : value <= 2 * decade ? 2 * decade
           : value <= 5 * decade ? 5 * decade
                                 : 10 * decade;
}

struct range {
    double low, high;
};

static void range_add(struct range *range, double value)
{
    if (!isfinite(value) || value <= 0)
        return;
    if (!(value >= range->low))
        range->low = value;
    if (!(value <= range->high))
        range->high = value;
}

/* A logarithmic axis that holds the range, at least a factor of 10. */
static struct range range_axis(struct range range)
{
    if (isnan(range.low))
        return (struct range){0.1, 10};
    range.low = nice_below(range.low * 0.98);
    range.high = nice_above(range.high * 1.05);
    if (range.high < 10 * range.low) {
        range.high = nice_above(range.high * 1.5);
        range.low = nice_below(range.low * 0.7);
    }
    return range;
}

static void end_block(FILE *rows)
{
    fputs("\n\n", rows);
}

/* ---- latency ---- */

static void write_latency(const struct plot_data *data, int32_t service, FILE *script, FILE *rows)
{
    const struct plot_service *at = &data->services[service];
    struct range p99 = {NAN, NAN}, p50 = {NAN, NAN};
    bool unserved = false;

    for (int32_t s = 0; s < data->strategy_count; s++) {
        for (int32_t k = 0; k < data->bins; k++) {
            const struct plot_bin *bin = &at->lines[s].bins[k];

            range_add(&p99, bin->p99_s);
            range_add(&p50, bin->p50_s);
            unserved = unserved || isinf(bin->p99_s);
            plot_number(rows, bin_time(data, k, 0.5), " ");
            plot_number(rows, bin->p50_s, " ");
            plot_number(rows, bin->p99_s, " ");
            fprintf(rows, "%d %d\n", isinf(bin->p99_s) != 0, isinf(bin->p50_s) != 0);
        }
        end_block(rows);
    }
    range_add(&p99, at->slo_s);
    p99 = range_axis(p99);
    p50 = range_axis(p50);
    write_strategies(data, script, NULL);
    write_slo(at, script);
    plot_set_number(script, "p99_low", p99.low);
    plot_set_number(script, "p99_high", p99.high);
    plot_set_number(script, "p50_low", p50.low);
    plot_set_number(script, "p50_high", p50.high);
    fprintf(script, "any_unserved = %d\n", unserved);
}

/* ---- capacity ---- */

/*
 * What ready and starting replicas would carry, each as much as the ready ones do now. Pooling would make it
 * a little more: lambda*(n) / n grows with n, but the series knows lambda* only at the number that is ready.
 */
static double provisioned(const struct plot_bin *bin)
{
    double starting = 0;

    for (int k = 1; k < 8; k++)
        starting += bin->states[k];
    return bin->states[0] > 0 ? bin->capacity / bin->states[0] * (bin->states[0] + starting) : (double)NAN;
}

static void write_capacity(const struct plot_data *data, int32_t service, FILE *script, FILE *rows)
{
    double most = 1e-9;
    bool known = false;

    for (int32_t s = 0; s < data->strategy_count; s++) {
        for (int32_t k = 0; k < data->bins; k++) {
            const struct plot_bin *bin = &data->services[service].lines[s].bins[k];
            double with_starting = provisioned(bin);

            known = known || isfinite(bin->capacity);
            most = fmax(most, fmax(bin->offered, isfinite(bin->capacity) ? bin->capacity : 0));
            for (int end = 0; end < 2; end++) { /* a bin is a step */
                plot_number(rows, bin_time(data, k, end), " ");
                plot_number(rows, bin->offered, " ");
                plot_number(rows, bin->capacity, " ");
                plot_number(rows, with_starting, "\n");
            }
        }
        end_block(rows);
    }
    write_strategies(data, script, NULL);
    plot_set_number(script, "y_max", most * 1.12);
    plot_set_number(script, "y_step", nice_above(most / 5));
    fprintf(script, "known = %d\n", known);
}

static int capacity_legend(const struct plot_data *data)
{
    (void)data;
    return 2;
}

/* ---- replicas ---- */

/* One end of a bin: the upper edges from the top of the stack down (each lower area is drawn over it), then
 * what was needed. */
static void write_stack(const struct plot_bin *bin, double time, double top, FILE *rows)
{
    plot_number(rows, time, " ");
    for (int state = PLOT_STATES - 1; state >= 0; state--) {
        plot_number(rows, top, " ");
        top -= bin->states[state];
    }
    plot_number(rows, bin->need, "\n");
}

static void write_replicas(const struct plot_data *data, int32_t service, FILE *script, FILE *rows)
{
    double most = 1;
    bool known = false;

    for (int32_t s = 0; s < data->strategy_count; s++) {
        for (int32_t k = 0; k < data->bins; k++) {
            const struct plot_bin *bin = &data->services[service].lines[s].bins[k];
            double top = 0;

            for (int state = 0; state < PLOT_STATES; state++)
                top += bin->states[state];
            most = fmax(most, fmax(top, isfinite(bin->need) ? bin->need : 0));
            known = known || isfinite(bin->need);
            write_stack(bin, bin_time(data, k, 0), top, rows);
            write_stack(bin, bin_time(data, k, 1), top, rows);
        }
        end_block(rows);
    }
    write_strategies(data, script, NULL);
    plot_set_number(script, "y_max", most * 1.12);
    plot_set_number(script, "y_step", nice_above(most / 5));
    fprintf(script, "states = %d\narray state_titles[%d]\narray state_colors[%d]\n", PLOT_STATES, PLOT_STATES,
            PLOT_STATES);
    for (int k = 1; k <= PLOT_STATES; k++)
        fprintf(script, "state_titles[%d] = '%s'\nstate_colors[%d] = '%s'\n", k,
                plot_state_names[PLOT_STATES - k], k, plot_state_color(PLOT_STATES - k));
    plot_set_text(script, "need_title", known ? "needed for the SLO" : "", PLOT_LEGEND_CHARACTERS);
}

static int replicas_legend(const struct plot_data *data)
{
    (void)data;
    return 3; /* eleven short words */
}

/* ---- start waterfall ---- */

static int waterfall_columns(const struct plot_data *data)
{
    return data->strategy_count == 4 ? 2 : data->strategy_count < 3 ? data->strategy_count : 3;
}

static int waterfall_rows(const struct plot_data *data)
{
    int columns = waterfall_columns(data);

    return (data->strategy_count + columns - 1) / columns;
}

static int waterfall_height(const struct plot_data *data)
{
    return waterfall_rows(data) <= 2 ? PLOT_HEIGHT : 160 + 280 * waterfall_rows(data);
}

static double write_starts(const struct plot_line *line, double unit_s, FILE *rows)
{
    double longest = 0;

    for (int stage = 0; stage < PLOT_STAGES; stage++) {
        bool any = false;

        for (int64_t k = 0; k < line->start_kept; k++) {
            double from = 0, took = line->starts[k].stages_s[stage];

            for (int before = 0; before < stage; before++)
                from += isfinite(line->starts[k].stages_s[before]) ? line->starts[k].stages_s[before] : 0;
            if (!isfinite(took) || took <= 0)
                continue;
            longest = fmax(longest, from + took);
            any = true;
            plot_number(rows, from / unit_s, " ");
            plot_number(rows, (from + took) / unit_s, " ");
            fprintf(rows, "%d\n", (int)k + 1);
        }
        if (!any)
            fputs("NaN NaN NaN\n", rows); /* a block without rows would not count */
        end_block(rows);
    }
    return longest;
}

static double longest_start(const struct plot_line *line)
{
    double longest = 0;

    for (int64_t k = 0; k < line->start_kept; k++) {
        double sum = 0;

        for (int stage = 0; stage < PLOT_STAGES; stage++)
            sum += isfinite(line->starts[k].stages_s[stage]) ? line->starts[k].stages_s[stage] : 0;
        longest = fmax(longest, sum);
    }
    return longest;
}

static void write_waterfall(const struct plot_data *data, int32_t service, FILE *script, FILE *rows)
{
    char suffixes[PLOT_STRATEGIES_MAX][64];
    const char *list[PLOT_STRATEGIES_MAX];
    double longest = 0, unit;

    for (int32_t s = 0; s < data->strategy_count; s++)
        longest = fmax(longest, longest_start(&data->services[service].lines[s]));
    unit = longest > 600 ? 60 : 1;
    for (int32_t s = 0; s < data->strategy_count; s++) {
        const struct plot_line *line = &data->services[service].lines[s];

        write_starts(line, unit, rows);
        if (line->start_count == 0)
            snprintf(suffixes[s], sizeof suffixes[s], ": no replica was started");
        else if (line->start_kept < line->start_count)
            snprintf(suffixes[s], sizeof suffixes[s], ": %lld of %lld starts", (long long)line->start_kept,
                     (long long)line->start_count);
        else
            snprintf(suffixes[s], sizeof suffixes[s], ": %lld start%s", (long long)line->start_count,
                     line->start_count == 1 ? "" : "s");
        list[s] = suffixes[s];
    }
    write_strategies(data, script, list);
    fprintf(script, "array counts[%d]\n", (int)data->strategy_count);
    for (int32_t s = 0; s < data->strategy_count; s++)
        fprintf(script, "counts[%d] = %lld\n", (int)s + 1,
                (long long)data->services[service].lines[s].start_kept);
    fprintf(script, "columns = %d\nrows = %d\nstages = %d\narray stage_titles[%d]\narray stage_colors[%d]\n",
            waterfall_columns(data), waterfall_rows(data), PLOT_STAGES, PLOT_STAGES, PLOT_STAGES);
    for (int k = 0; k < PLOT_STAGES; k++)
        fprintf(script, "stage_titles[%d] = '%s'\nstage_colors[%d] = '%s'\n", k + 1, plot_stage_names[k],
                k + 1, plot_state_color(PLOT_STAGES - k));
    plot_set_number(script, "start_max", longest > 0 ? longest / unit * 1.03 : 1);
    plot_set_number(script, "start_step", nice_above(longest > 0 ? longest / unit / 6 : 0.5));
    plot_set_text(script, "start_label", unit > 1 ? "time since asked for (min)" : "time since asked for (s)",
                  PLOT_HEADING_CHARACTERS);
}

static int waterfall_legend(const struct plot_data *data)
{
    (void)data;
    return 1;
}

/* ---- cost against P99 ---- */

static void cost_suffix(const struct plot_line *line, char text[64])
{
    const char *met = strcmp(line->met, "yes") == 0         ? ": SLO met"
                      : strcmp(line->met, "no") == 0        ? ": SLO missed"
                      : strcmp(line->met, "undecided") == 0 ? ": undecided"
                                                            : "";

    if (isfinite(line->unserved_share) && line->unserved_share >= 0.005)
        snprintf(text, 64, "%s, %.0f %% unserved", met[0] ? met : ":", line->unserved_share * 100);
    else
        snprintf(text, 64, "%s", met);
}

static void write_cost(const struct plot_data *data, int32_t service, FILE *script, FILE *rows)
{
    const struct plot_service *at = &data->services[service];
    bool priced = data->currency[0] != '\0' && isfinite(data->strategies[0].gross.mean), unserved = false;
    struct range p99 = {NAN, NAN};
    double most = 0, least = INFINITY, pad;
    char suffixes[PLOT_STRATEGIES_MAX][64], label[128];
    const char *list[PLOT_STRATEGIES_MAX];

    for (int32_t s = 0; s < data->strategy_count; s++) {
        const struct plot_line *line = &at->lines[s];
        struct plot_estimate x = priced ? data->strategies[s].gross : data->strategies[s].gpu_hours,
                             y = line->peak_p99;
        double x_half = isfinite(x.ci95) ? x.ci95 : 0, y_half = isfinite(y.ci95) ? y.ci95 : 0;
        bool infinite = !isfinite(y.mean) && line->unserved_share > 0;

        unserved = unserved || infinite;
        most = fmax(most, isfinite(x.mean) ? x.mean + x_half : 0);
        least = fmin(least, isfinite(x.mean) ? x.mean - x_half : INFINITY);
        range_add(&p99, y.mean);
        range_add(&p99, y.mean + y_half);
        plot_number(rows, x.mean, " ");
        plot_number(rows, x_half, " ");
        plot_number(rows, y.mean, " ");
        plot_number(rows, y_half, " ");
        fprintf(rows, "%d\n", infinite);
        end_block(rows);
        cost_suffix(line, suffixes[s]);
        list[s] = suffixes[s];
    }
    range_add(&p99, at->slo_s);
    p99 = range_axis(p99);
    write_strategies(data, script, list);
    write_slo(at, script);
    snprintf(label, sizeof label, priced ? "gross cost (%.20s)" : "GPU-hours (no prices given)%s",
             priced ? data->currency : "");
    plot_set_text(script, "cost_label", label, PLOT_HEADING_CHARACTERS);
    pad = fmax(0.15 * (most - least), 0.05 * most);
    plot_set_number(script, "cost_low", most > 0 && least < INFINITY ? fmax(0, least - pad) : 0);
    plot_set_number(script, "cost_high", most > 0 ? most + pad : 1);
    plot_set_number(script, "y_low", p99.low);
    plot_set_number(script, "finite_high", p99.high);
    /* room for the arrows above whatever is finite */
    plot_set_number(script, "y_high", unserved ? p99.high * pow(p99.high / p99.low, 0.2) : p99.high);
    fprintf(script, "any_unserved = %d\n", unserved);
}

static int cost_legend(const struct plot_data *data)
{
    return data->strategy_count + 1; /* names with verdicts, and the SLO: one a row */
}

static int cost_height(const struct plot_data *data)
{
    return legend_height(cost_legend(data));
}

const struct plot_figure plot_figures[PLOT_FIGURES] = {
    {"latency", "latency by time of completion", latency_height, latency_legend, write_latency},
    {"capacity", "demand and capacity", panels_height, capacity_legend, write_capacity},
    {"replicas", "replicas by state", panels_height, replicas_legend, write_replicas},
    {"waterfall", "where starting replicas spend their time", waterfall_height, waterfall_legend,
     write_waterfall},
    {"cost-p99", "cost and peak P99", cost_height, cost_legend, write_cost},
};
