/*
 * model.h - an agent in the fake world, as the protocol describes it: much
 * smaller than the real one, and with every misfortune on call.  It keeps a
 * clock of its own, does "I/O", makes rows, and holds them until they are
 * acknowledged.
 */
#ifndef TESTS_SIM_MODEL_H
#define TESTS_SIM_MODEL_H

#include "tests/sim/cable.h"
#include "tests/sim/truth.h"

#define MODEL_ROWS 128u

enum message_kind {
    MESSAGE_HELLO,
    MESSAGE_READY,
    MESSAGE_ARMED,
    MESSAGE_REFUSED,
    MESSAGE_SAMPLE,
    MESSAGE_FINISHED,
    MESSAGE_REPLY,
    MESSAGE_PROBE,
    MESSAGE_PREPARE,
    MESSAGE_START,
    MESSAGE_GO,
    MESSAGE_STOP_AFTER,
    MESSAGE_ABORT,
    MESSAGE_RENEW,
    MESSAGE_ACK,
    MESSAGE_RELEASE,
    MESSAGE_COMMAND,
    MESSAGE_COMMANDED,
};

struct message {
    enum message_kind kind;
    uint32_t phase;
    uint64_t value;  /* the frame's number: start, interval, outcome, ... */
    uint64_t second; /* and its second one */
    uint64_t third;
};

enum model_state { /* as conduct_held */
                   MODEL_IDLE,
                   MODEL_PREPARING,
                   MODEL_READY,
                   MODEL_ARMED,
                   MODEL_RUNNING,
                   MODEL_DRAINING,
                   MODEL_HOLDING,
};

struct model {
    struct world *world;
    struct truth *truth;
    struct cable cable;
    uint32_t index;

    /* Its nature. */
    int64_t clock_base_ns;
    double clock_rate; /* 1 + drift */
    uint64_t lease_ns;
    bool finishes;
    uint64_t prepare_ns; /* how long it takes */
    double refuses;      /* chances, at each phase */
    double sticks;
    uint64_t drain_limit_ns;

    /* Its life. */
    uint64_t instance; /* grows at every start of the process */
    uint64_t boot;
    uint64_t life; /* tokens of another life are void */
    bool alive;
    bool connected;
    uint64_t connection;
    uint64_t thaw_ns; /* stopped until then */
    struct message inbox[256];
    uint32_t inbox_count;

    /* Its work. */
    enum model_state state;
    uint64_t work; /* tokens of other work are void */
    uint32_t phase;
    uint64_t interval_ns;
    uint64_t intervals; /* to do */
    uint64_t stop_after;
    uint64_t start_ns; /* on its clock; what it is armed for */
    bool may_go;
    uint64_t deadline_ns;
    uint64_t turn_ns; /* when it last looked at its messages */
    uint64_t outcome;
    uint64_t stuck;
    uint64_t rows_made;
    uint64_t drain_row; /* its number, once finished; 0: no rows */
    uint64_t acknowledged;
    uint64_t ios[MODEL_ROWS];

    /* Its command: the last one that it was told to run. */
    uint64_t command;      /* number; 0: none */
    uint64_t command_done; /* number of the last one that has ended */
    uint64_t command_life; /* tokens of another command are void */
};

void model_init(struct model *model, struct world *world, struct truth *truth,
                uint32_t index);
void model_done(struct model *model);

uint64_t model_clock_ns(const struct model *model, uint64_t true_ns);

/* Starts the process and dials. */
void model_start(struct model *model);

/* Misfortunes. */
void model_die(struct model *model, bool power, uint64_t notice_ns);
void model_freeze(struct model *model, uint64_t for_ns);

#endif
