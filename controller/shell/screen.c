/* screen.c - see screen.h. */
#include "controller/shell/screen.h"

#include <curses.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct screen {
    struct screen_text text;
    SCREEN *terminal;
};

/* A screen is drawn by moving the cursor: "dumb" terminals cannot. */
static bool can_move(void)
{
    const char *move = tigetstr("cup");

    return move != NULL && (intptr_t)move != -1;
}

struct screen *screen_open(void)
{
    struct screen *screen;

    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return NULL;
    screen = calloc(1, sizeof(*screen));
    if (screen == NULL)
        return NULL;
    screen_text_init(&screen->text);
    (void)setlocale(LC_CTYPE, "");
    screen->terminal = newterm(NULL, stdout, stdin);
    if (screen->terminal == NULL || !can_move()) {
        screen_close(screen);
        return NULL;
    }
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    (void)nodelay(stdscr, TRUE);
    (void)keypad(stdscr, TRUE);
    return screen;
}

void screen_close(struct screen *screen)
{
    if (screen == NULL)
        return;
    if (screen->terminal != NULL) {
        (void)endwin();
        delscreen(screen->terminal);
    }
    screen_text_done(&screen->text);
    free(screen);
}

struct screen_text *screen_text_of(struct screen *screen)
{
    return &screen->text;
}

/* True for the key that leaves. */
static bool take_key(struct screen *screen, int key)
{
    switch (key) {
    case 'd':
        screen->text.list = SCREEN_DRIVES;
        break;
    case 'h':
        screen->text.list = SCREEN_HOSTS;
        break;
    case 'w':
        screen->text.list = SCREEN_WORKLOADS;
        break;
    case KEY_RESIZE: /* curses knows the new size already */
        (void)clear();
        break;
    default:
        break;
    }
    return key == 'q';
}

static void draw(const struct screen *screen)
{
    struct screen_size size = {.rows = (size_t)LINES, .columns = (size_t)COLS};
    char line[SCREEN_LINE_SIZE];

    if (size.columns > SCREEN_COLUMNS_MAX)
        size.columns = SCREEN_COLUMNS_MAX;
    for (size_t i = 0; i < size.rows; i++) {
        bool frame = i == 0 || i + 1 == size.rows;

        screen_text_line(&screen->text, size, i, line);
        if (frame)
            (void)attron(A_REVERSE);
        (void)mvaddstr((int)i, 0, line);
        if (frame)
            (void)hline(' ', COLS);
        else
            (void)clrtoeol();
        if (frame)
            (void)attroff(A_REVERSE);
    }
    (void)refresh();
}

bool screen_turn(struct screen *screen)
{
    bool leave = false;
    int key;

    while ((key = getch()) != ERR)
        leave = take_key(screen, key) || leave;
    draw(screen);
    return leave;
}
