/* private.c - see private.h. */
#include "controller/shell/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controller/shell/files.h"

#define WORDS_MAX (OPTIONS_WORDS_MAX * 4 + 16)
#define REASON_MS 1000 /* for a controller that ends */

enum child_id {
    CHILD_CONTROLLER,
    CHILD_AGENT,
    CHILD_COUNT,
};

static const char *const child_names[CHILD_COUNT] = {"lockstepd",
                                                     "lockstep-agent"};

struct child {
    pid_t pid; /* 0: not started, or waited for */
    char log[PATH_SIZE];
};

struct private_pair {
    struct child child[CHILD_COUNT];
};

/* A program is beside this one, in the sbin beside its bin, or where the build
 * puts it. */
static int find_program(const char *name, char path[PATH_SIZE],
                        struct diag *diag)
{
    static const char *const places[] = {"", "../sbin/", "../agent/"};
    char self[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (length < 0)
        return diag_set(diag, -errno, "cannot tell where this program is: %s",
                        strerror(errno));
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
        int n = snprintf(path, PATH_SIZE, "%s/%s%s", self, places[i], name);

        if (n > 0 && n < PATH_SIZE && access(path, X_OK) == 0)
            return 0;
    }
    return diag_set(diag, -ENOENT,
                    "%s is not beside this program (%s): install it, or build "
                    "it whole",
                    name, self);
}

/* In the child: wires descriptors and becomes the program. */
static void become(const char *path, char *const words[], const char *log,
                   const int *keep, size_t keep_count)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    (void)setpgid(0, 0);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(out >= 0 ? out : null, STDERR_FILENO);
    for (size_t i = 0; i < keep_count; i++)
        (void)fcntl(keep[i], F_SETFD, 0);
    (void)execv(path, words);
    _exit(127);
}

static int start(struct child *child, const char *name, char *const words[],
                 const int *keep, size_t keep_count, struct diag *diag)
{
    char path[PATH_SIZE];
    int r = find_program(name, path, diag);

    if (r < 0)
        return r;

    pid_t pid = fork();

    if (pid < 0)
        return diag_set(diag, -errno, "cannot start %s: %s", name,
                        strerror(errno));
    if (pid == 0)
        become(path, words, child->log, keep, keep_count);
    child->pid = pid;
    return 0;
}

/* argv of a child: words are constants or texts that outlive the fork. */
struct words {
    char *word[WORDS_MAX];
    size_t count;
};

static void add(struct words *words, const char *word)
{
    union {
        const char *in;
        char *out; /* execv() takes char *, and leaves the texts alone */
    } u = {.in = word};

    if (words->count + 1 < WORDS_MAX)
        words->word[words->count++] = u.out;
}

/* Both are this host: what may be run on one may be run on the other. */
static void add_commands(struct words *words, const struct options *options)
{
    for (size_t i = 0; options != NULL && i < options->commands.count; i++) {
        add(words, "--command");
        add(words, options->commands.word[i]);
    }
}

static int start_controller(struct private_pair *pair, const char *directory,
                            const struct options *options, int agent_fd,
                            int shell_fd, struct diag *diag)
{
    char store[PATH_SIZE + 16];
    char agent[16];
    char shell[16];
    struct words words = {0};
    const int keep[] = {agent_fd, shell_fd};

    (void)snprintf(store, sizeof(store), "%s/lockstep.db", directory);
    (void)snprintf(agent, sizeof(agent), "%d", agent_fd);
    (void)snprintf(shell, sizeof(shell), "%d", shell_fd);
    add(&words, "lockstepd");
    add(&words, "--private");
    add(&words, "--store");
    add(&words, store);
    add(&words, "--agent-fd");
    add(&words, agent);
    add(&words, "--shell-fd");
    add(&words, shell);
    add_commands(&words, options);
    return start(&pair->child[CHILD_CONTROLLER], "lockstepd", words.word, keep,
                 ARRAY_LENGTH(keep), diag);
}

static int start_agent(struct private_pair *pair, const struct options *options,
                       int controller_fd, struct diag *diag)
{
    char fd[16];
    struct words words = {0};

    (void)snprintf(fd, sizeof(fd), "%d", controller_fd);
    add(&words, "lockstep-agent");
    add(&words, "--name");
    add(&words, "localhost");
    add(&words, "--controller-fd");
    add(&words, fd);
    for (size_t i = 0; i < options->offers.count; i++) {
        add(&words, "--offer");
        add(&words, options->offers.word[i]);
    }
    add_commands(&words, options);
    if (options->engine != NULL) {
        add(&words, "--engine");
        add(&words, options->engine);
    }
    return start(&pair->child[CHILD_AGENT], "lockstep-agent", words.word,
                 &controller_fd, 1, diag);
}

static void close_both(const int fds[2])
{
    (void)close(fds[0]);
    (void)close(fds[1]);
}

/* `options` NULL: no agent. */
static int start_both(struct private_pair *pair, const char *directory,
                      const struct options *options, int *ret_fd,
                      struct diag *diag)
{
    int agent[2];
    int shell[2];
    int r;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, agent) < 0)
        return diag_set(diag, -errno, "cannot make a socket pair: %s",
                        strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, shell) < 0) {
        r = diag_set(diag, -errno, "cannot make a socket pair: %s",
                     strerror(errno));
        close_both(agent);
        return r;
    }
    r = start_controller(pair, directory, options, agent[0], shell[0], diag);
    if (r == 0 && options != NULL)
        r = start_agent(pair, options, agent[1], diag);
    close_both(agent);
    (void)close(shell[0]);
    if (r == 0)
        *ret_fd = shell[1];
    else
        (void)close(shell[1]);
    return r;
}

static int start_pair(const char *directory, const struct options *options,
                      struct private_pair **ret_pair, int *ret_fd,
                      struct diag *diag)
{
    struct private_pair *pair = calloc(1, sizeof(*pair));
    int r;

    if (pair == NULL)
        return diag_set(diag, -ENOMEM, "no memory");
    for (int i = 0; i < CHILD_COUNT; i++)
        (void)snprintf(pair->child[i].log, PATH_SIZE, "%s/%s.log", directory,
                       child_names[i]);
    r = start_both(pair, directory, options, ret_fd, diag);
    if (r < 0)
        (void)private_end(pair, 2000);
    else
        *ret_pair = pair;
    return r;
}

int private_start(const char *directory, const struct options *options,
                  struct private_pair **ret_pair, int *ret_fd,
                  struct diag *diag)
{
    return start_pair(directory, options, ret_pair, ret_fd, diag);
}

int private_open(const char *directory, struct private_pair **ret_pair,
                 int *ret_fd, struct diag *diag)
{
    return start_pair(directory, NULL, ret_pair, ret_fd, diag);
}

/* What a run puts into its directory before it begins. */
static bool is_ours(const char *name)
{
    static const char *const names[] = {
        "lockstep.db",      "lockstep.db-wal", "lockstep.db-shm",
        "lockstep.db.lock", "lockstepd.log",   "lockstep-agent.log",
        "flatfile.html",    "logfile.html",    "parmfile.html",
        "summary.html",     "totals.html",     "histogram.html",
    };

    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

void private_discard(const char *directory)
{
    DIR *entries = opendir(directory);
    const struct dirent *entry;

    if (entries == NULL)
        return;
    while ((entry = readdir(entries)) != NULL)
        if (is_ours(entry->d_name))
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    (void)closedir(entries);
    (void)rmdir(directory); /* not when anything else is there */
}

static void last_line(const char *path, char *text, size_t size)
{
    char *log = NULL;
    size_t length = 0;
    char *line;

    text[0] = '\0';
    if (file_read(path, 1u << 20, &log, &length, NULL) < 0)
        return;
    while (length > 0 && log[length - 1] == '\n')
        log[--length] = '\0';
    line = strrchr(log, '\n');
    (void)snprintf(text, size, "%s", line != NULL ? line + 1 : log);
    free(log);
}

/* Waits for the child's end without polling; true when it ended in time. */
static bool await(pid_t pid, int limit_ms)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    bool in_time = fd >= 0 && poll(&ended, 1, limit_ms) > 0;

    if (fd >= 0)
        (void)close(fd);
    return in_time;
}

void private_reason(const struct private_pair *pair, char *text, size_t size)
{
    char line[REASON_SIZE];

    text[0] = '\0';
    /* Of who is killed the connections end first, and then the process. */
    if (pair->child[CHILD_CONTROLLER].pid != 0)
        (void)await(pair->child[CHILD_CONTROLLER].pid, REASON_MS);
    for (int i = 0; i < CHILD_COUNT && text[0] == '\0'; i++) {
        const struct child *child = &pair->child[i];
        siginfo_t info = {0};

        if (child->pid == 0 ||
            waitid(P_PID, (id_t)child->pid, &info,
                   WEXITED | WNOHANG | WNOWAIT) < 0 ||
            info.si_pid == 0)
            continue;
        last_line(child->log, line, sizeof(line));
        if (info.si_code != CLD_EXITED)
            (void)snprintf(text, size,
                           "%s was killed by SIG%s; its last words: %s",
                           child_names[i], sigabbrev_np(info.si_status),
                           line[0] != '\0' ? line : "none");
        else
            (void)snprintf(text, size, "%s ended: %s", child_names[i],
                           line[0] != '\0' ? line : "it said nothing");
    }
}

/* A process with requests in a drive that does not answer ends when the drive
 * does, killed or not: nobody waits for that. */
static void end_child(struct child *child, const char *name, int limit_ms)
{
    bool ended;

    if (child->pid == 0)
        return;
    ended = await(child->pid, limit_ms);
    if (!ended) {
        (void)kill(child->pid, SIGTERM);
        ended = await(child->pid, 2000);
    }
    if (!ended) {
        (void)kill(child->pid, SIGKILL);
        ended = await(child->pid, 2000);
    }
    if (ended)
        (void)waitpid(child->pid, NULL, 0);
    else
        fprintf(stderr,
                "lockstep: %s (process %d) is killed and cannot end: the "
                "kernel waits for requests that a drive does not answer\n",
                name, (int)child->pid);
    child->pid = 0;
}

struct private_pair *private_end(struct private_pair *pair, int limit_ms)
{
    if (pair == NULL)
        return NULL;
    /* The agent first: its controller takes its last samples. */
    end_child(&pair->child[CHILD_AGENT], child_names[CHILD_AGENT], limit_ms);
    end_child(&pair->child[CHILD_CONTROLLER], child_names[CHILD_CONTROLLER],
              limit_ms);
    free(pair);
    return NULL;
}
