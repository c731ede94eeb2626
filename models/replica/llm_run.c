#include <math.h>

#include "models/replica/llm_internal.h"

/*
 * Many steps at once. While only decoders run and none of them ends, each step computes one token a decoder,
 * so that with D decoders the sum of computed tokens grows by D a step and the lengths of the steps are
 *     first, first + slope, first + 2 slope, ...   with slope = context * D,
 * and k of them last k * first + slope * k (k - 1) / 2. All in integers.
 *
 * What ends a run: the step in which a decoder emits its last token (the wheel), a step for which blocks
 * would be short, an arrival or a cancelled request that the next boundary must see (the callers cut the run
 * there). Nothing else can: the budget suffices for all decoders or there is no run; a request at the head of
 * the queue that could not be admitted at the first step cannot be at a later one, for the number of running
 * requests stays, and each block that the decoders take lowers the free ones by one while it lowers what the
 * head needs by one at most (a cached block of its prefix that was free). Decoders publish no block that
 * others can hit.
 */

int64_t llm_run_blocks(const struct llm_server *llm, int64_t steps)
{
    int64_t size = llm->config->block_size, rest = steps & (size - 1);
    int64_t blocks = (steps >> llm->config->block_shift) * llm->decoders;

    /* decoder of base b fills a block up, and needs the next, at the steps s with s = b mod size */
    for (int64_t i = 0; i < rest; i++)
        blocks += llm->residues[(llm->step + i) & (size - 1)];
    return blocks;
}

bool llm_run_possible(const struct llm_server *llm)
{
    return !llm->config->stepping && llm->partial.count == 0 && llm->irregular == 0 && llm->decoders > 0 &&
           llm->decoders <= llm->config->budget && llm_run_blocks(llm, 1) <= llm->kv.free;
}

/* Sum of floor((first + slope * i) / grid) for i from 0 to count - 1, in as many rounds as Euclid's algorithm
 * takes: the whole parts of both quotients leave a triangle whose lattice points are counted along the other
 * axis. */
static int64_t sum_of_floors(int64_t count, int64_t grid, int64_t slope, int64_t first)
{
    int64_t sum = 0;

    while (count > 0) {
        __int128 top;

        sum += first / grid * count;
        first %= grid;
        sum += slope / grid * (count * (count - 1) / 2);
        slope %= grid;
        top = (__int128)slope * count + first;
        if (top < grid)
            break;
        count = (int64_t)(top / grid);
        first = (int64_t)(top % grid);
        top = grid;
        grid = slope;
        slope = (int64_t)top;
    }
    return sum;
}

int64_t llm_run_length(const struct llm_server *llm, int64_t steps)
{
    if (llm->config->grid > 1)
        return llm->config->grid * sum_of_floors(steps, llm->config->grid, llm->run.slope, llm->run.first);
    return steps * llm->run.first + llm->run.slope * (steps * (steps - 1) / 2);
}

sim_time llm_run_end(const struct llm_server *llm, int64_t steps)
{
    return llm->clock_ns + ((llm_run_length(llm, steps) - llm->clock_under + LLM_FINE - 1) >> LLM_FINE_BITS);
}

void llm_run_plan(struct llm_server *llm, int64_t taken)
{
    const struct llm_config *config = llm->config;
    int64_t steps = llm_wheel_distance(llm);
    int64_t free = llm->kv.free + (taken ? llm_run_blocks(llm, 1) : 0);

    llm->run.only_decoders = true;
    llm->run.taken = taken;
    llm->run.decoding = llm->decoders;
    llm->run.first = config->base + config->decode * llm->decoders +
                     config->context * (llm->decoders * llm->step - llm->base_sum);
    llm->run.slope = config->context * llm->decoders;
    if (((steps >> config->block_shift) + 1) * llm->decoders > free) {
        /* rounds of block_size steps need a block a decoder each; then step by step */
        int64_t rounds = free / llm->decoders, most;

        if (rounds > steps >> config->block_shift)
            rounds = steps >> config->block_shift;
        most = rounds << config->block_shift;
        free -= rounds * llm->decoders;
        while (most < steps) {
            free -= llm->residues[(llm->step + most) & (config->block_size - 1)];
            if (free < 0)
                break;
            most++;
        }
        steps = most;
    }
    /* lengths stay far inside int64: a step of many days ends a run */
    while (steps > 1 &&
           (double)steps * ((double)llm->run.first + (double)llm->run.slope * (double)steps) > 0x1p60)
        steps /= 2;
    llm->run.steps = steps;
}

int64_t llm_run_boundary(const struct llm_server *llm, sim_time now)
{
    int64_t after, steps;
    double first, slope;

    if (now <= llm->clock_ns)
        return 0;
    if (now > llm_run_end(llm, llm->run.steps))
        return llm->run.steps + 1;
    /* least k with length(k) - under > (now - clock - 1) ns */
    after = ((now - llm->clock_ns - 1) << LLM_FINE_BITS) + llm->clock_under + 1;
    first = (double)llm->run.first;
    slope = (double)llm->run.slope;
    if (llm->run.steps == 1) {
        return 1;
    } else if (llm->run.slope == 0 && llm->config->grid == 1) {
        steps = (after + llm->run.first - 1) / llm->run.first;
    } else {
        double b = first - slope / 2;

        /* of the quadratic without rounding to a grid */
        steps = (int64_t)(2 * (double)after / (b + sqrt(b * b + 2 * slope * (double)after)));
        steps = steps < 1 ? 1 : steps > llm->run.steps ? llm->run.steps : steps;
        /* what floating point missed */
        while (llm_run_length(llm, steps) < after)
            steps++;
        while (steps > 1 && llm_run_length(llm, steps - 1) >= after)
            steps--;
    }
    return steps;
}
