#include "tests/sim/truth.h"

#include <string.h>

void truth_init(struct truth *truth, struct world *world, uint32_t hosts)
{
    memset(truth, 0, sizeof(*truth));
    truth->world = world;
    truth->hosts = hosts;
}

static void set_writing(struct truth *truth, uint32_t host, uint32_t phase)
{
    uint64_t epoch = truth->parts[phase][host].epoch;

    REQUIRE(truth->world, !truth->ended);
    REQUIRE(truth->world,
            truth->writing == 0 || (truth->writing_phase == phase &&
                                    truth->writing_epoch == epoch));
    truth->writing |= 1u << host;
    truth->writing_phase = phase;
    truth->writing_epoch = epoch;
}

void truth_opens(struct truth *truth, uint32_t host, uint32_t phase,
                 uint64_t epoch)
{
    struct truth_part *part = &truth->parts[phase][host];

    world_trace(truth->world, "host%u OPENS phase %u", host, phase);
    REQUIRE(truth->world, part->opened_ns == 0 || epoch > part->epoch);
    *part = (struct truth_part){
        .epoch = epoch,
        .opened_ns = world_now(truth->world),
        .late = part->late,
    };
    set_writing(truth, host, phase);
}

void truth_stops(struct truth *truth, uint32_t host, uint32_t phase)
{
    world_trace(truth->world, "host%u STOPS phase %u", host, phase);
    truth->parts[phase][host].stopped_ns = world_now(truth->world);
    truth->writing &= ~(1u << host);
}

void truth_pauses(struct truth *truth, uint32_t host)
{
    truth->writing &= ~(1u << host);
}

void truth_resumes(struct truth *truth, uint32_t host, uint32_t phase)
{
    world_trace(truth->world, "host%u RESUMES phase %u", host, phase);
    set_writing(truth, host, phase);
}
