/* monitor.c - see monitor.h. */
#include "controller/shell/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 64

/* The first line without its blanks, at most LINE_BYTES of it. */
static void first_line(int fd, char line[LINE_BYTES + 1])
{
    char text[LINE_BYTES + 1];
    ssize_t got = pread(fd, text, LINE_BYTES, 0);
    size_t begin, end;

    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    begin = strspn(text, " \t");
    end = strlen(text);
    while (end > begin && (text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    memcpy(line, text + begin, end - begin);
    line[end - begin] = '\0';
}

static enum monitor_wish wish_of(const char *line)
{
    if (strcasecmp(line, "shutdown") == 0 || strcasecmp(line, "end_rd") == 0)
        return MONITOR_END_RUN;
    if (strcasecmp(line, "terminate") == 0 ||
        strcasecmp(line, "end_vdbench") == 0)
        return MONITOR_END_ALL;
    return MONITOR_NOTHING;
}

/* Only a plain file whose content is ours to take. */
static int check_content(int fd, const char *path, struct diag *diag)
{
    char line[LINE_BYTES + 1];
    struct stat facts;

    if (fstat(fd, &facts) < 0)
        return diag_set(diag, -errno, "monitor=%s: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return diag_set(diag, -EINVAL, "monitor=%s is no plain file", path);
    first_line(fd, line);
    if (facts.st_size > 0 && wish_of(line) == MONITOR_NOTHING)
        return diag_set(diag, -EEXIST,
                        "monitor=%s holds something else already, and is left "
                        "alone: name another file, or empty it",
                        path);
    if (ftruncate(fd, 0) < 0)
        return diag_set(diag, -errno, "monitor=%s: %s", path, strerror(errno));
    return 0;
}

int monitor_begin(const char *path, struct diag *diag)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                  0644);
    int err;

    if (fd < 0)
        return diag_set(diag, -errno, "monitor=%s: %s", path, strerror(errno));
    err = check_content(fd, path, diag);
    (void)close(fd);
    return err;
}

enum monitor_wish monitor_look(const char *path)
{
    char line[LINE_BYTES + 1];
    enum monitor_wish wish;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return MONITOR_NOTHING;
    first_line(fd, line);
    wish = wish_of(line);
    if (wish != MONITOR_NOTHING && ftruncate(fd, 0) < 0)
        wish = MONITOR_NOTHING; /* or it would be carried out for ever */
    (void)close(fd);
    return wish;
}
