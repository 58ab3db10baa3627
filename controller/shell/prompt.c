/* prompt.c - see prompt.h. */
#include "controller/shell/prompt.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "common/base.h"
#include "controller/shell/output.h"
#include "controller/shell/prompt_tab.h"
#include "controller/shell/recall.h"

/* The program's name and the words of a line. */
#define PROMPT_WORDS_MAX 300

struct prompt {
    char *program;
    prompt_dispatch *dispatch;
    EditLine *line;
    struct recall recall;
    int status; /* of the last command */
    bool over;
};

/* ---- keys ---------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static const char *prompt_text(EditLine *line)
{
    (void)line;
    return "lockstep> ";
}

/* Waits for a key; false at Ctrl-C.  The signal is let in only here, so that
 * none is lost on the way. */
static bool await_key(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t none;

    (void)sigemptyset(&none);
    while (!interrupted && ppoll(&input, 1, NULL, &none) < 0 && errno == EINTR)
        ;
    return !interrupted;
}

/* One character for libedit; 0 at the end of input and at Ctrl-C. */
static int read_key(EditLine *line, wchar_t *key)
{
    mbstate_t state = {0};
    char byte;

    (void)line;
    while (await_key()) {
        size_t used;

        if (read(STDIN_FILENO, &byte, 1) <= 0)
            return 0;
        if (byte == '\0')
            continue; /* a Ctrl-D from before the terminal gave us its keys */
        used = mbrtowc(key, &byte, 1, &state);
        if (used == (size_t)-2)
            continue; /* in the middle of a character */
        if (used == (size_t)-1)
            *key = (unsigned char)byte;
        return 1;
    }
    return 0;
}

static void set_blocked(int how)
{
    sigset_t interrupt;

    (void)sigemptyset(&interrupt);
    (void)sigaddset(&interrupt, SIGINT);
    (void)sigprocmask(how, &interrupt, NULL);
}

static void watch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};

    interrupted = 0;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    set_blocked(SIG_BLOCK);
}

/* The next line, NULL at the end of input; "" where Ctrl-C dropped it. */
static const char *read_line(struct prompt *p)
{
    const char *text;
    int length = 0;

    watch_interrupts();
    text = el_gets(p->line, &length);
    if (text != NULL && length > 0 && !interrupted)
        return text;
    putchar('\n');
    if (!interrupted)
        return NULL;
    el_reset(p->line);
    return "";
}

/* ---- commands ------------------------------------------------------------ */

static void run_child(struct prompt *p, int argc, char **argv)
{
    int status;

    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGQUIT, SIG_DFL);
    set_blocked(SIG_UNBLOCK);
    status = p->dispatch(argc, argv);
    _exit(fflush(stdout) == 0 ? status : EXIT_FAILED);
}

/* Runs one command to its end; its signals are not ours. */
static int run_line(struct prompt *p, int argc, char **argv)
{
    int status;
    pid_t child;

    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    fflush(stdout);
    child = fork();
    if (child == 0)
        run_child(p, argc, argv);
    if (child < 0)
        return output_error(false, EXIT_FAILED, "no process for a command: %s",
                            strerror(errno));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    (void)signal(SIGQUIT, SIG_DFL);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return output_error(false, EXIT_FAILED, "the command ended by signal %d",
                        WTERMSIG(status));
}

/* `-c HOST:PORT` and `--keys FILE` by themselves hold for what comes after. */
static bool keep_setting(int argc, char **argv)
{
    if (argc != 3)
        return false;
    if (strcmp(argv[1], "-c") == 0)
        return setenv("LOCKSTEP_CONTROLLER", argv[2], 1) == 0;
    if (strcmp(argv[1], "--keys") == 0)
        return setenv("LOCKSTEP_KEYS", argv[2], 1) == 0;
    return false;
}

static void take_words(struct prompt *p, int argc, char **argv)
{
    if (argc == 2 &&
        (strcmp(argv[1], "exit") == 0 || strcmp(argv[1], "quit") == 0))
        p->over = true;
    else if (argc > 1 && !keep_setting(argc, argv))
        p->status = run_line(p, argc, argv);
}

/* Takes a line apart as a shell does, quotes and backslashes included. */
static void take_line(struct prompt *p, const char *text)
{
    char *argv[PROMPT_WORDS_MAX + 1];
    const char **words;
    Tokenizer *tokens = tok_init(NULL);
    int count = 0;

    if (tokens == NULL)
        return;
    if (tok_str(tokens, text, &count, &words) != 0) {
        p->status = output_error(false, EXIT_USAGE,
                                 "a quote is open at the end of the line");
    } else if (count >= PROMPT_WORDS_MAX) {
        p->status = output_error(false, EXIT_USAGE, "more than %d words",
                                 PROMPT_WORDS_MAX - 1);
    } else {
        /* main() gets words that it may write to: so do its commands. */
        memcpy(&argv[1], words, (size_t)count * sizeof(*argv));
        argv[0] = p->program;
        argv[count + 1] = NULL;
        take_words(p, count + 1, argv);
    }
    tok_end(tokens);
}

/* ---- the prompt ---------------------------------------------------------- */

static bool prompt_open(struct prompt *p)
{
    /* Characters only: numbers look the same everywhere. */
    (void)setlocale(LC_CTYPE, "");
    p->line = el_init("lockstep", stdin, stdout, stderr);
    if (p->line == NULL)
        return false;
    recall_open(&p->recall);
    (void)el_set(p->line, EL_PROMPT, prompt_text);
    (void)el_set(p->line, EL_EDITOR, "emacs");
    (void)el_set(p->line, EL_GETCFN, read_key);
    if (p->recall.lines != NULL)
        (void)el_set(p->line, EL_HIST, history, p->recall.lines);
    prompt_tab_bind(p->line);
    (void)el_source(p->line, NULL); /* ~/.editrc, as all of libedit's */
    return true;
}

int prompt_run(char *program, prompt_dispatch *dispatch)
{
    struct prompt p = {.program = program, .dispatch = dispatch};
    const char *text;

    if (!prompt_open(&p))
        return output_error(false, EXIT_FAILED, "no memory for a prompt");
    puts("'help' lists the commands, 'COMMAND --help' its options; Tab "
         "completes, Ctrl-D leaves.");
    while (!p.over && (text = read_line(&p)) != NULL) {
        recall_add(&p.recall, text);
        take_line(&p, text);
    }
    recall_close(&p.recall);
    el_end(p.line);
    return p.status;
}
