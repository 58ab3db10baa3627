/* options.c - see options.h. */
#include "controller/shell/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"

struct command_row {
    const char *name;
    const char *arguments;
    const char *help;
    size_t arguments_max;
};

static const struct command_row commands[COMMAND_COUNT] = {
    [COMMAND_RUN] = {"run", "-f FILE... [NAME=VALUE...]",
                     "run a file on this host, without any daemon", 0},
    [COMMAND_CHECK] = {"check", "-f FILE... [NAME=VALUE...]",
                       "print what a file would run; no I/O", 0},
    [COMMAND_SUBMIT] = {"submit", "-f FILE... [NAME=VALUE...]",
                        "queue a campaign at the controller", 0},
    [COMMAND_HOSTS] = {"hosts", "", "the fleet's hosts", 0},
    [COMMAND_DRIVES] = {"drives", "[HOST [DRIVE]]", "the fleet's drives", 2},
    [COMMAND_CAMPAIGNS] = {"campaigns", "", "campaigns, newest last", 0},
    [COMMAND_STATUS] = {"status", "[ID]", "where a campaign is", 1},
    [COMMAND_WATCH] = {"watch", "[ID]", "a campaign's intervals, live", 1},
    [COMMAND_SHOW] = {"show", "ID", "a campaign's results", 1},
    [COMMAND_STOP] = {"stop", "ID", "stop a campaign's load", 1},
    [COMMAND_PIN] = {"pin", "ID", "keep all of a campaign, however old", 1},
    [COMMAND_REPORT] = {"report", "ID", "a campaign as one page to mail", 1},
    [COMMAND_COMPARE] = {"compare", "ID ID...",
                         "runs of campaigns side by side", OPTIONS_WORDS_MAX},
    [COMMAND_EXPORT] = {"export", "ID",
                        "a campaign as CSV, JSON or a vdbench folder", 1},
    [COMMAND_KEYS] = {"keys",
                      "init | list | agent NAME | operator NAME | viewer "
                      "NAME | renew NAME | revoke NAME",
                      "make, list, renew and revoke the lab's keys", 2},
    [COMMAND_AUDIT] = {"audit", "", "who submitted, stopped or was refused", 0},
};

#define BIT(command) (1u << (command))
#define FILE_COMMANDS                                                          \
    (BIT(COMMAND_RUN) | BIT(COMMAND_CHECK) | BIT(COMMAND_SUBMIT))
#define REMOTE_COMMANDS                                                        \
    (BIT(COMMAND_SUBMIT) | BIT(COMMAND_HOSTS) | BIT(COMMAND_DRIVES) |          \
     BIT(COMMAND_CAMPAIGNS) | BIT(COMMAND_STATUS) | BIT(COMMAND_WATCH) |       \
     BIT(COMMAND_SHOW) | BIT(COMMAND_STOP) | BIT(COMMAND_PIN) |                \
     BIT(COMMAND_REPORT) | BIT(COMMAND_COMPARE) | BIT(COMMAND_EXPORT) |        \
     BIT(COMMAND_AUDIT))
#define RENDER_COMMANDS (BIT(COMMAND_REPORT) | BIT(COMMAND_EXPORT))

/* One option: where its value goes and how. */
struct option_row {
    const char *name;
    const char *value; /* its name in the help; NULL: a switch */
    unsigned commands;
    int (*take)(struct options *options, const char *value, struct diag *diag);
    const char *help;
};

#define NOT_PLAIN "%s: the value has control characters or is no UTF-8 text"

static int add_word(struct word_list *list, const char *word, struct diag *diag)
{
    if (list->count == OPTIONS_WORDS_MAX)
        return diag_set(diag, -EINVAL, "more than %d of them, at '%s'",
                        OPTIONS_WORDS_MAX, word);
    list->word[list->count++] = word;
    return 0;
}

static int take_file(struct options *o, const char *value, struct diag *diag)
{
    return add_word(&o->files, value, diag);
}

static int take_offer(struct options *o, const char *value, struct diag *diag)
{
    return add_word(&o->offers, value, diag);
}

static int take_command(struct options *o, const char *value, struct diag *diag)
{
    return add_word(&o->commands, value, diag);
}

static int take_directory(struct options *o, const char *value,
                          struct diag *diag)
{
    (void)diag;
    o->directory = value;
    return 0;
}

static int take_vdbench(struct options *o, const char *value, struct diag *diag)
{
    (void)diag;
    o->vdbench = value;
    return 0;
}

static int take_bound(struct options *o, const char *value, struct diag *diag)
{
    return add_word(&o->bounds, value, diag);
}

static int take_controller(struct options *o, const char *value,
                           struct diag *diag)
{
    (void)diag;
    o->controller = value;
    return 0;
}

static int take_keys(struct options *o, const char *value, struct diag *diag)
{
    (void)diag;
    o->keys = value;
    return 0;
}

static int take_name(struct options *o, const char *value, struct diag *diag)
{
    if (strlen(value) >= TEXT_SIZE)
        return diag_set(diag, -EINVAL, "--name takes %d bytes at most",
                        TEXT_SIZE - 1);
    o->name = value;
    return 0;
}

static int take_yes(struct options *o, const char *value, struct diag *diag)
{
    if (value[0] == '\0' || strlen(value) >= NAME_SIZE)
        return diag_set(diag, -EINVAL,
                        "--yes '%s' is no hash; 'lockstep submit' without it "
                        "tells the one to give",
                        value);
    o->yes = value;
    return 0;
}

static int take_engine(struct options *o, const char *value, struct diag *diag)
{
    (void)diag;
    o->engine = value;
    return 0;
}

static int take_time(const char *value, const char *what, uint64_t *ret_ns,
                     struct diag *diag)
{
    if (units_parse_time(value, NS_PER_S, ret_ns) < 0)
        return diag_set(diag, -EINVAL,
                        "%s '%s' is not a time: give seconds, or a number "
                        "with s, m or h",
                        what, value);
    return 0;
}

static int take_elapsed(struct options *o, const char *value, struct diag *diag)
{
    int r = take_time(value, "-e", &o->elapsed_ns, diag);

    if (r == 0 && o->elapsed_ns == 0)
        return diag_set(diag, -EINVAL, "-e needs more than 0 seconds");
    return r;
}

static int take_interval(struct options *o, const char *value,
                         struct diag *diag)
{
    int r = take_time(value, "-i", &o->interval_ns, diag);

    if (r == 0 && o->interval_ns == 0)
        return diag_set(diag, -EINVAL, "-i needs more than 0 seconds");
    return r;
}

static int take_warmup(struct options *o, const char *value, struct diag *diag)
{
    o->warmup_given = true;
    return take_time(value, "-w", &o->warmup_ns, diag);
}

/* A word that the language may read: no blank, comma or quote. */
static int take_plain_word(const char *value, const char *what,
                           const char **ret_word, struct diag *diag)
{
    if (value[0] == '\0' || strlen(value) > 63 ||
        strpbrk(value, " \t\n,\"()") != NULL)
        return diag_set(diag, -EINVAL, "%s '%s' is not a plain word", what,
                        value);
    *ret_word = value;
    return 0;
}

static int take_loop(struct options *o, const char *value, struct diag *diag)
{
    return take_plain_word(value, "-l", &o->loop, diag);
}

static int take_first(struct options *o, const char *value, struct diag *diag)
{
    return take_plain_word(value, "-r", &o->first_rd, diag);
}

/* vdbench's number of Java machines. */
static int take_machines(struct options *o, const char *value,
                         struct diag *diag)
{
    (void)o;
    (void)diag;
    (void)fprintf(stderr,
                  "note: -m %s has no effect here; workers= in the "
                  "file sets the number of threads\n",
                  value);
    return 0;
}

static int take_json(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->json = true;
    return 0;
}

static int take_csv(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->csv = true;
    return 0;
}

static int take_totals(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->totals = true;
    return 0;
}

static int take_intervals(struct options *o, const char *value,
                          struct diag *diag)
{
    (void)value;
    (void)diag;
    o->intervals = true;
    return 0;
}

static int take_runs(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->runs = true;
    return 0;
}

static int take_fleet(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->fleet = true;
    return 0;
}

static int take_here(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->here = true;
    return 0;
}

static int take_wait(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->wait = true;
    return 0;
}

static int take_lines(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->lines = true;
    return 0;
}

static int take_off(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->off = true;
    return 0;
}

static int take_help(struct options *o, const char *value, struct diag *diag)
{
    (void)value;
    (void)diag;
    o->help = true;
    return 0;
}

static const struct option_row rows[] = {
    {"-f", "FILE", FILE_COMMANDS, take_file,
     "parameter file; several are read as one"},
    {"-o", "DIR", BIT(COMMAND_RUN), take_directory,
     "where the results go, not there yet; by default lockstep-DATE-TIME"},
    {"-o", "FILE", RENDER_COMMANDS, take_directory,
     "where it goes; by default standard output"},
    {"--csv", NULL, BIT(COMMAND_EXPORT), take_csv,
     "one table, a line for each total and interval; the default"},
    {"--totals", NULL, BIT(COMMAND_EXPORT), take_totals, "only those"},
    {"--intervals", NULL, BIT(COMMAND_EXPORT), take_intervals, "only those"},
    {"--vdbench", "DIR", BIT(COMMAND_EXPORT), take_vdbench,
     "a folder as vdbench leaves it; must not exist yet"},
    {"--fail-if", "BOUND", BIT(COMMAND_COMPARE), take_bound,
     "exit 6 where a change breaks it: \"p99 > +10%\", \"iops < -5%\""},
    {"-e", "SEC", FILE_COMMANDS, take_elapsed, "elapsed= of every run"},
    {"-i", "SEC", FILE_COMMANDS, take_interval, "interval= of every run"},
    {"-w", "SEC", FILE_COMMANDS, take_warmup, "warmup= of every run"},
    {"-l", "N", FILE_COMMANDS, take_loop,
     "all runs so often, or for so long: 3, 90m, 12h"},
    {"-r", "RD", FILE_COMMANDS, take_first, "begin with this rd="},
    {"-m", "N", FILE_COMMANDS, take_machines,
     "vdbench's Java machines: no effect"},
    {"--offer", "PATTERN", BIT(COMMAND_RUN) | BIT(COMMAND_CHECK), take_offer,
     "drives that may be written: /dev/nvme*n1, serial=..., model=..."},
    {"--yes", "HASH", BIT(COMMAND_RUN) | BIT(COMMAND_SUBMIT), take_yes,
     "what this list of drives holds may be destroyed; see overwrite="},
    {"--command", "COMMAND", BIT(COMMAND_RUN) | BIT(COMMAND_CHECK),
     take_command,
     "what startcmd= and endcmd= may run: 'NAME [TIME] PROGRAM WORD...'"},
    {"--wait", NULL, BIT(COMMAND_SUBMIT), take_wait,
     "show the campaign until it ends; Ctrl-C detaches"},
    {"--off", NULL, BIT(COMMAND_PIN), take_off, "no longer"},
    {"--lines", NULL, BIT(COMMAND_WATCH), take_lines,
     "a row an interval, as without a terminal, not the whole screen"},
    {"--name", "NAME", BIT(COMMAND_RUN) | BIT(COMMAND_SUBMIT), take_name,
     "the campaign's name; by default the file's"},
    {"--runs", NULL, BIT(COMMAND_CHECK), take_runs,
     "one tab-separated line a run"},
    {"--fleet", NULL, BIT(COMMAND_CHECK), take_fleet,
     "with the hosts and drives of the controller, as submit would"},
    {"--here", NULL, BIT(COMMAND_CHECK), take_here,
     "with the drives of this host, as run would"},
    {"--dir", "DIR", BIT(COMMAND_KEYS), take_directory,
     "the folder of the keys; by default lockstep-keys"},
    {"-c", "HOST:PORT", REMOTE_COMMANDS | BIT(COMMAND_CHECK), take_controller,
     "the controller; by default $LOCKSTEP_CONTROLLER or " OPTIONS_CONTROLLER},
    {"--keys", "FILE", REMOTE_COMMANDS | BIT(COMMAND_CHECK), take_keys,
     "the operator's bundle; by default $LOCKSTEP_KEYS"},
    {"--json", NULL, ~0u, take_json, "one JSON document on stdout"},
    {"--help", NULL, ~0u, take_help, "this text"},
    {"--engine", "ENGINE", BIT(COMMAND_RUN), take_engine, NULL},
};

/* The command's own row of that name; else any, for the message. */
static const struct option_row *find_row(const char *word,
                                         enum command_id command)
{
    const struct option_row *found = NULL;

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        if (strcmp(rows[i].name, word) == 0 &&
            (found == NULL || (rows[i].commands & BIT(command)) != 0))
            found = &rows[i];
    return found;
}

enum command_id options_command(const char *name)
{
    int i = 0;

    while (i < COMMAND_COUNT && strcmp(commands[i].name, name) != 0)
        i++;
    return (enum command_id)i;
}

const char *options_command_name(size_t number)
{
    return number < COMMAND_COUNT ? commands[number].name : NULL;
}

const char *options_command_arguments(enum command_id command)
{
    return commands[command].arguments;
}

const char *options_option_name(enum command_id command, size_t number,
                                const char **ret_value)
{
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if ((rows[i].commands & BIT(command)) == 0 || rows[i].help == NULL)
            continue;
        if (number-- == 0) {
            *ret_value = rows[i].value;
            return rows[i].name;
        }
    }
    return NULL;
}

static int find_command(const char *word, struct options *o, struct diag *diag)
{
    o->command = options_command(word);
    if (o->command != COMMAND_COUNT)
        return 0;
    if (word[0] == '-')
        return diag_set(diag, -EINVAL,
                        "the command comes first, '%s' behind it: lockstep "
                        "COMMAND [OPTION...]",
                        word);
    return diag_set(diag, -EINVAL,
                    "there is no command '%s'; 'lockstep --help' lists them",
                    word);
}

static bool takes_files(enum command_id command)
{
    return (FILE_COMMANDS & BIT(command)) != 0;
}

/* A word that is no option: NAME=VALUE, or an argument. */
static int take_plain(struct options *o, const char *word, struct diag *diag)
{
    if (!text_is_plain(word))
        return diag_set(diag, -EINVAL, NOT_PLAIN, word);
    if (takes_files(o->command)) {
        if (strchr(word, '=') == NULL || word[0] == '=')
            return diag_set(diag, -EINVAL,
                            "'%s' is neither an option nor NAME=VALUE; a "
                            "parameter file is given by -f",
                            word);
        return add_word(&o->variables, word, diag);
    }
    if (o->arguments.count == commands[o->command].arguments_max)
        return diag_set(diag, -EINVAL,
                        "'%s' is one word too many; the form is: lockstep "
                        "%s%s%s",
                        word, commands[o->command].name,
                        commands[o->command].arguments[0] != '\0' ? " " : "",
                        commands[o->command].arguments);
    return add_word(&o->arguments, word, diag);
}

/* Names of files may have bytes of any kind; all else is sent and shown. */
static bool is_path(const struct option_row *row)
{
    return strcmp(row->value, "FILE") == 0 || strcmp(row->value, "DIR") == 0;
}

/* Takes the option at argv[*at], and its value where it has one. */
static int take_option(struct options *o, int argc, char **argv, int *at,
                       struct diag *diag)
{
    const struct option_row *row = find_row(argv[*at], o->command);
    const char *value = NULL;

    if (row == NULL || (row->commands & BIT(o->command)) == 0)
        return diag_set(diag, -EINVAL,
                        "'%s' has no option '%s'; 'lockstep %s --help' lists "
                        "them",
                        commands[o->command].name, argv[*at],
                        commands[o->command].name);
    if (row->value != NULL) {
        if (*at + 1 >= argc)
            return diag_set(diag, -EINVAL, "%s needs a value: %s %s", row->name,
                            row->name, row->value);
        value = argv[++*at];
    }
    if (value != NULL && !is_path(row) && !text_is_plain(value))
        return diag_set(diag, -EINVAL, NOT_PLAIN, row->name);
    return row->take(o, value, diag);
}

/* `-f a b c`: further words that are no options and no variables. */
static bool continues_files(const struct options *o, int at, char **argv)
{
    return at > 1 && strcmp(argv[at - 1], "-f") != 0 && o->files.count > 0 &&
           o->files.word[o->files.count - 1] == argv[at - 1] &&
           argv[at][0] != '-' && strchr(argv[at], '=') == NULL;
}

/* Commands of a campaign that is to be named. */
#define NEED_ID                                                                \
    (BIT(COMMAND_SHOW) | BIT(COMMAND_STOP) | BIT(COMMAND_PIN) |                \
     BIT(COMMAND_REPORT) | BIT(COMMAND_EXPORT))

/* Of check: options of a controller or an agent want one to be asked. */
static int check_check(const struct options *o, struct diag *diag)
{
    if (o->fleet && o->here)
        return diag_set(diag, -EINVAL,
                        "--fleet and --here ask different hosts: give one");
    if (o->commands.count > 0 && !o->here)
        return diag_set(diag, -EINVAL,
                        "--command counts with --here only: without it no "
                        "host is asked");
    if (o->offers.count > 0 && !o->here)
        return diag_set(diag, -EINVAL,
                        "--offer counts with --here only: without it no drive "
                        "is looked at");
    return 0;
}

static int check_export(const struct options *o, struct diag *diag)
{
    if (o->csv + o->json + (o->vdbench != NULL) > 1)
        return diag_set(diag, -EINVAL,
                        "--csv, --json and --vdbench are forms of one output: "
                        "give one");
    if (o->vdbench != NULL && o->directory != NULL)
        return diag_set(diag, -EINVAL,
                        "--vdbench DIR says where it goes: -o is one too many");
    return 0;
}

static int check_whole(const struct options *o, struct diag *diag)
{
    const char *name = commands[o->command].name;

    if (takes_files(o->command) && o->files.count == 0)
        return diag_set(diag, -EINVAL, "%s needs a parameter file: -f FILE",
                        name);
    if ((BIT(o->command) & NEED_ID) != 0 && o->arguments.count == 0)
        return diag_set(diag, -EINVAL,
                        "%s needs a campaign's number; 'lockstep campaigns' "
                        "lists them",
                        name);
    if (o->json && o->runs)
        return diag_set(diag, -EINVAL,
                        "--json and --runs are two forms of one output: give "
                        "one");
    if (o->command == COMMAND_COMPARE && o->arguments.count < 2)
        return diag_set(diag, -EINVAL,
                        "compare needs two campaigns: lockstep compare ID "
                        "ID...; 'ID,ID' joins repeats into one side");
    if (o->command == COMMAND_CHECK)
        return check_check(o, diag);
    return o->command == COMMAND_EXPORT ? check_export(o, diag) : 0;
}

static const char *environment(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : fallback;
}

void options_init(struct options *options)
{
    *options = (struct options){
        .controller = environment("LOCKSTEP_CONTROLLER", OPTIONS_CONTROLLER),
        .keys = environment("LOCKSTEP_KEYS", NULL),
    };
}

int options_parse(int argc, char **argv, struct options *ret_options,
                  struct diag *diag)
{
    struct options o;
    int r;

    options_init(&o);
    o.argc = argc;
    o.argv = argv;
    if (argc < 2)
        return diag_set(diag, -EINVAL,
                        "no command; 'lockstep --help' lists them");
    r = find_command(argv[1], &o, diag);
    for (int i = 2; r == 0 && i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            r = take_option(&o, argc, argv, &i, diag);
        else if (continues_files(&o, i, argv))
            r = add_word(&o.files, argv[i], diag);
        else
            r = take_plain(&o, argv[i], diag);
    }
    if (r == 0 && !o.help)
        r = check_whole(&o, diag);
    if (r == 0)
        *ret_options = o;
    return r;
}

bool options_want_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

void options_help(void)
{
    puts("lockstep - the shell of the Lockstep storage load generator\n\n"
         "usage: lockstep COMMAND [OPTION...]\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    puts("\n'lockstep COMMAND --help' lists a command's options.\n"
         "exit status: 0 complete, 1 failed, 2 wrong usage or file, 3 degraded,"
         "\n             4 interrupted, 5 no controller, 6 a comparison broke "
         "its bound");
}

void options_help_command(enum command_id command)
{
    printf("usage: lockstep %s%s%s [OPTION...]\n%s\n\n", commands[command].name,
           commands[command].arguments[0] != '\0' ? " " : "",
           commands[command].arguments, commands[command].help);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        char left[64];

        if ((rows[i].commands & BIT(command)) == 0 || rows[i].help == NULL)
            continue;
        (void)snprintf(left, sizeof(left), "%s %s", rows[i].name,
                       rows[i].value != NULL ? rows[i].value : "");
        printf("  %-18s %s\n", left, rows[i].help);
    }
}
