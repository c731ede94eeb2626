#ifndef MODELS_REPLICA_SLOTS_H
#define MODELS_REPLICA_SLOTS_H

#include "models/replica/service.h"

/*
 * `slots`: c parallel slots behind one first-come-first-served queue, the G/G/c of the textbooks. A request
 * holds one slot from its start to its end. How long, one of:
 *
 *   {"count": 64, "time": "250ms"}
 *       drawn when the request arrives: with Poisson arrivals M/M/c, M/D/c or M/G/c; "time" may be any
 *       distribution
 *   {"count": 64, "base": "50ms", "per_input_token": "0.1ms", "per_output_token": "20ms"}
 *       base + tokens_in * per_input_token + tokens_out * per_output_token; base may be a distribution, what
 *       is not given is 0
 *   {"count": 64, "speed": 1.0}
 *       the traffic's own work, divided by speed (1 if not given)
 *
 * count is 1 .. 1,048,576. With per-token costs the output tokens leave one per_output_token apart and the
 * last one at the end of service, so the first leaves at started + base + tokens_in * per_input_token +
 * per_output_token. A request without output tokens, and the other two forms, have no first output.
 *
 * Jobs whose service ends at the same nanosecond complete in the order of their admission. A request whose
 * traffic gives no work is refused by the third form.
 *
 * Cost: O(log c) an event, 32 bytes a slot; nothing is allocated after create.
 */
extern const struct service_type service_slots;

#endif
