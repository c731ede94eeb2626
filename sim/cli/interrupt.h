#ifndef SIM_CLI_INTERRUPT_H
#define SIM_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM ask the runs to end; a second one ends the program at once. */
void interrupt_catch(void);

/* Has one come? In the form in which runs poll it. */
bool interrupt_came(void *unused);

#endif
