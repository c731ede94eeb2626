#include "sim/cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

/* A signal handler has nothing but a global to speak through; this is the program's only one. */
static volatile sig_atomic_t came;

static void handle(int number)
{
    (void)number;
    came = 1;
}

void interrupt_catch(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_came(void *unused)
{
    (void)unused;
    return came != 0;
}
