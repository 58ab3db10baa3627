/* prompt_tab.c - see prompt_tab.h. */
#include "controller/shell/prompt_tab.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "controller/shell/complete.h"

/* As many candidates are shown as a screen may hold. */
#define CANDIDATES_SIZE 16384
#define WORDS_MAX       300

/* The child's part: its candidates go into the pipe. */
static void print_candidates(int fd, const char *const *words, size_t count)
{
    if (dup2(fd, STDOUT_FILENO) < 0)
        _exit(1);
    (void)signal(SIGALRM, SIG_DFL);
    (void)complete_print(words, count);
    fflush(stdout);
    _exit(0);
}

/* What a child prints for the words, lines one after the other. */
static size_t ask_child(const char *const *words, size_t count, char *text,
                        size_t size)
{
    size_t used = 0;
    ssize_t got;
    int ends[2];
    pid_t child;

    if (pipe(ends) < 0)
        return 0;
    fflush(stdout);
    child = fork();
    if (child == 0)
        print_candidates(ends[1], words, count);
    (void)close(ends[1]);
    while (child > 0 && used < size - 1 &&
           (got = read(ends[0], text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    (void)close(ends[0]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    text[used] = '\0';
    return used;
}

/* The number of lines; `ret_common`: how many bytes all begin with. */
static size_t measure(const char *text, size_t *ret_common)
{
    size_t common = strcspn(text, "\n");
    size_t lines = 0;

    for (const char *at = text; *at != '\0'; lines++) {
        size_t same = 0;

        while (same < common && at[same] == text[same])
            same++;
        common = same;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    *ret_common = common;
    return lines;
}

static void insert(EditLine *line, const char *text, size_t length)
{
    char part[CANDIDATES_SIZE];

    (void)snprintf(part, sizeof(part), "%.*s", (int)length, text);
    (void)el_insertstr(line, part);
}

/* Puts in what is certain; shows the rest. */
static unsigned char settle(EditLine *line, const char *text, size_t typed)
{
    size_t common;
    size_t lines = measure(text, &common);

    if (lines == 0)
        return CC_REFRESH_BEEP;
    if (common > typed)
        insert(line, text + typed, common - typed);
    if (lines == 1 && text[common - (common > 0)] != '/')
        insert(line, " ", 1);
    if (lines == 1 || common > typed)
        return CC_REFRESH;
    printf("\n%s", text);
    fflush(stdout);
    return CC_REDISPLAY;
}

static unsigned char on_tab(EditLine *line, int key)
{
    static char text[CANDIDATES_SIZE];
    const char *asked[WORDS_MAX];
    const LineInfo *info = el_line(line);
    Tokenizer *tokens = tok_init(NULL);
    unsigned char result = CC_REFRESH_BEEP;
    const char **words;
    int count, word, offset;
    LineInfo before = *info;

    (void)key;
    before.lastchar = info->cursor; /* what is behind it does not matter */
    if (tokens == NULL)
        return result;
    if (tok_line(tokens, &before, &count, &words, &word, &offset) == 0 &&
        word < WORDS_MAX - 1) {
        memcpy(asked, words, (size_t)count * sizeof(*asked));
        if (word == count) /* behind a blank: a word begins */
            asked[count++] = "";
        (void)ask_child(asked, (size_t)count, text, sizeof(text));
        result = settle(line, text, strlen(asked[count - 1]));
    }
    tok_end(tokens);
    return result;
}

void prompt_tab_bind(EditLine *line)
{
    /* The narrow call would never free its copies of the two texts. */
    (void)el_wset(line, EL_ADDFN, L"lockstep-complete",
                  L"complete the word before the cursor", on_tab);
    (void)el_set(line, EL_BIND, "^I", "lockstep-complete", NULL);
}
