/* process.c - see process.h. */
#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int process_init(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR); /* the lowest that is free */
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0)
        return -errno;
    (void)close(fd);
    return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -errno : 0;
}

bool process_ignores(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 &&
           action.sa_handler == SIG_IGN;
}
