/*
 * parameters.c - the one table of parameters.
 *
 * A new parameter is a row here and, where it does something, a function in
 * apply_*.c.  Within a section the order is vdbench's, because an abbreviation
 * means the first parameter that begins with it.
 */
#include "controller/language/apply.h"

#include <string.h>

#define WORKS(section, name, apply, help)                                      \
    {                                                                          \
        SECTION_##section, name, false, PARAMETER_WORKS, SHAPE_NUMBERS, apply, \
            help                                                               \
    }
#define WHOLE(section, name, apply, help)                                      \
    {                                                                          \
        SECTION_##section, name, true, PARAMETER_WORKS, SHAPE_NUMBERS, apply,  \
            help                                                               \
    }
#define IDLE(section, name, help)                                              \
    {                                                                          \
        SECTION_##section, name, false, PARAMETER_NO_EFFECT, SHAPE_WORDS,      \
            NULL, help                                                         \
    }
#define LATER(section, name, shape, help)                                      \
    {                                                                          \
        SECTION_##section, name, false, PARAMETER_NOT_YET, SHAPE_##shape,      \
            NULL, help                                                         \
    }
#define LATER_WHOLE(section, name, shape, help)                                \
    {                                                                          \
        SECTION_##section, name, true, PARAMETER_NOT_YET, SHAPE_##shape, NULL, \
            help                                                               \
    }

/* clang-format off */
const struct parameter_kind parameter_table[] = {
    /* General parameters: before the first hd=, sd=, wd= or rd=. */
    WORKS(GENERAL, "compratio", apply_compratio,
          "how well written data compress; 1: not at all"),
    WORKS(GENERAL, "compression", apply_compression,
          "compratio= in its old form: so many per cent are left; 25 is 4"),
    IDLE(GENERAL, "compressionseed", "seed of the written data"),
    {SECTION_GENERAL, "dedup", true, PARAMETER_WORKS, SHAPE_KEYS, apply_dedup,
     "all of them in one: (ratio=2,unit=4k,sets=5%,hotsets=(10,2),"
     "flipflop=hot,across=no)"},
    WORKS(GENERAL, "dedupratio", apply_dedupratio,
          "how well written data deduplicate; 1: not at all"),
    WORKS(GENERAL, "dedupunit", apply_dedupunit,
          "bytes that are a duplicate, or not"),
    WORKS(GENERAL, "dedupsets", apply_dedupsets,
          "how many different duplicates there are, or N% of all; 5%"),
    WORKS(GENERAL, "deduphotsets", apply_deduphotsets,
          "(sets,duplicates,...): sets of so many duplicates each, at the "
          "beginning of the drives"),
    WORKS(GENERAL, "dedupflipflop", apply_dedupflipflop,
          "yes: a duplicate takes one of two contents at each write; hot: "
          "those of deduphotsets= only; no"),
    WORKS(GENERAL, "dedupacross", apply_dedupacross,
          "no: what is no duplicate on its drive is the same on all drives"),
    IDLE(GENERAL, "dedupmaxkey", "number of duplicates of a block"),
    IDLE(GENERAL, "port", "port of vdbench's master"),
    WORKS(GENERAL, "pattern", apply_pattern,
          "file of up to 256 KiB: its bytes are written, over and over from "
          "the beginning of each request"),
    WORKS(GENERAL, "data_errors", apply_data_errors,
          "errors of a run after which the campaign ends, or (errors,seconds); "
          "50"),
    WORKS(GENERAL, "dataerrors", apply_data_errors, "data_errors="),
    IDLE(GENERAL, "swat", "vdbench itself dropped it"),
    WORKS(GENERAL, "validate", apply_anything_but_no, "data validation"),
    {SECTION_GENERAL, "journal", true, PARAMETER_WORKS, SHAPE_WORDS,
     apply_anything_but_no, "journal of data validation"},
    WHOLE(GENERAL, "startcmd", apply_commands,
          "commands before the first run, on the controller's host, where its "
          "configuration names them; cons: shown as well"),
    WHOLE(GENERAL, "start_cmd", apply_commands, "startcmd="),
    WHOLE(GENERAL, "endcmd", apply_commands,
          "commands after the last run, however the campaign ended"),
    WHOLE(GENERAL, "end_cmd", apply_commands, "endcmd="),
    WHOLE(GENERAL, "heartbeat_error", apply_heartbeat_error,
          "commands on the controller's host when another is lost"),
    {SECTION_GENERAL, "debug", true, PARAMETER_NO_EFFECT, SHAPE_WORDS, NULL,
     "vdbench's own debugging"},
    IDLE(GENERAL, "unix2windows", "translation of paths"),
    IDLE(GENERAL, "formatxfersize", "transfer size of a format run"),
    IDLE(GENERAL, "create_anchors", "file systems only"),
    WORKS(GENERAL, "formatsds", apply_formatsds,
          "fill file sds before the first run even if they are there"),
    {SECTION_GENERAL, "report", false, PARAMETER_NO_EFFECT, SHAPE_WORDS,
     apply_report_words,
     "extra pages: host_detail, slave_detail, no_sd_detail, no_fsd_detail"},
    IDLE(GENERAL, "report_run_totals", "totals of all runs"),
    WORKS(GENERAL, "histogram", apply_histogram,
          "(default,20u,40u,1m,2s): where the ranges of response times in "
          "histogram.html begin and end, rising, at most 64; suppress at the "
          "end: ranges without a request are left out"),
    IDLE(GENERAL, "psrset", "Solaris processor sets"),
    IDLE(GENERAL, "auxreport", "reports of a plug-in"),
    WORKS(GENERAL, "monitor", apply_monitor,
          "file, where run or submit --wait was started, that ends runs from "
          "outside: shutdown or end_rd the one that goes on, terminate or "
          "end_vdbench all"),
    WORKS(GENERAL, "concatenatesds", apply_concatenatesds,
          "all sds of a workload as one large drive: random work by size, "
          "sequential work through one after another; wd= or rd= has threads="),
    IDLE(GENERAL, "messagescan", "scan of the system's log"),
    WORKS(GENERAL, "abort_failed_skew", apply_failed_skew,
          "end when a workload's share of a run's requests is off by more per "
          "cent of all"),
    IDLE(GENERAL, "misc", "vdbench's own tuning"),
    {SECTION_GENERAL, "pattern_buffer", true, PARAMETER_NO_EFFECT, SHAPE_WORDS,
     NULL, "size of vdbench's buffer of what is written"},
    {SECTION_GENERAL, "showlba", true, PARAMETER_NO_EFFECT, SHAPE_WORDS, NULL,
     "trace of addresses"},
    WHOLE(GENERAL, "loop", apply_loop,
          "all runs so often, or for so long: 3, 90m, 12h"),
    IDLE(GENERAL, "timeout", "vdbench's own limit"),
    IDLE(GENERAL, "ios_per_jvm", "Java"),
    IDLE(GENERAL, "fwd_thread_adjust", "file systems only"),
    WHOLE(GENERAL, "workers", apply_workers,
          "threads of an agent; as its configuration says by default"),
    WHOLE(GENERAL, "first_rd", apply_first_rd,
          "begin with this rd=; as -r on the command line"),
    WHOLE(GENERAL, "require", apply_require,
          "hosts that must take part in a run: all, a number, 75%"),
    WHOLE(GENERAL, "host_wait", apply_host_wait,
          "how long a run waits for a host that is not connected; 5m; 0: not "
          "at all"),
    WHOLE(GENERAL, "drain_wait", apply_drain_wait,
          "how long requests may take to come back when a run is over; 30s"),

    /* hd=: hosts. */
    WORKS(HD, "system", apply_host_system, "the agent's name or address"),
    IDLE(HD, "vdbench", "where vdbench is installed"),
    IDLE(HD, "shell", "how vdbench reaches the host"),
    IDLE(HD, "user", "as whom"),
    IDLE(HD, "jvms", "Java machines on the host"),
    LATER(HD, "clients", NUMBERS, "file systems only"),
    LATER(HD, "mount", WORDS, "file systems only"),
    IDLE(HD, "master", "address of vdbench's master"),

    /* sd=: storage. */
    WORKS(SD, "host", apply_sd_host, "hosts that see it; all by default"),
    WHOLE(SD, "hd", apply_sd_host, "host="),
    WORKS(SD, "lun", apply_sd_lun, "device or file"),
    WORKS(SD, "count", apply_sd_count,
          "(first,number): so many sds with numbered names and luns"),
    WORKS(SD, "size", apply_sd_size,
          "bytes that are used; a missing file is made so long"),
    WORKS(SD, "threads", apply_sd_threads,
          "requests at a time, over all its hosts; 8"),
    WORKS(SD, "hitarea", apply_sd_hitarea,
          "bytes that rhpct= and whpct= hit; 1m"),
    WORKS(SD, "offset", apply_sd_offset, "added to every address"),
    WORKS(SD, "align", apply_sd_align, "addresses are multiples of it"),
    IDLE(SD, "kstat", "Solaris"),
    IDLE(SD, "instance", "Solaris"),
    LATER(SD, "replay", WORDS, "replay of recorded I/O"),
    LATER(SD, "journal", WORDS, "journal of data validation"),
    IDLE(SD, "resetlun", "Solaris"),
    IDLE(SD, "resetbus", "Solaris"),
    WORKS(SD, "openflags", apply_sd_openflags,
          "o_direct, o_dsync, o_sync, fsync"),
    WORKS(SD, "range", apply_sd_range,
          "(low,high): the part that is used, in per cent or bytes"),
    WORKS(SD, "dedupratio", apply_sd_dedupratio,
          "as the general parameter, before which it comes"),
    WORKS(SD, "dedupunit", apply_sd_dedupunit, "the same"),
    WORKS(SD, "dedupsets", apply_sd_dedupsets, "the same"),
    WORKS(SD, "deduphotsets", apply_sd_deduphotsets, "the same"),
    WORKS(SD, "dedupflipflop", apply_sd_dedupflipflop, "the same"),
    {SECTION_SD, "drive", true, PARAMETER_WORKS, SHAPE_KEYS, apply_sd_drive,
     "in place of lun=: the drives of each host that are (model=*PM1725*,"
     "size=3.84t,count=24); also serial, wwn, firmware, by_id, name"},
    WHOLE(SD, "overwrite", apply_sd_overwrite,
          "yes: what is on the drive may be destroyed, where the operator "
          "confirms it"),

    /* wd=: workloads. */
    WHOLE(WD, "sd", apply_wd_sd, "the sds it runs on"),
    WORKS(WD, "skew", apply_wd_skew, "its per cent of the run's rate"),
    WORKS(WD, "xfersize", apply_wd_xfersize,
          "bytes a request, or (size,percent,size,percent,...); 4k"),
    WORKS(WD, "readpct", apply_wd_rdpct, "rdpct="),
    WORKS(WD, "rdpct", apply_wd_rdpct, "per cent of reads; 100"),
    WORKS(WD, "writepct", apply_wd_wrpct, "per cent of writes"),
    WORKS(WD, "wrpct", apply_wd_wrpct, "per cent of writes"),
    WORKS(WD, "range", apply_wd_range, "as on sd=, before which it comes"),
    WORKS(WD, "hotband", apply_wd_hotband,
          "a range in which places near its beginning are hit more often"),
    WORKS(WD, "seekpct", apply_wd_seekpct,
          "per cent of requests that go elsewhere: 0 or seq, 100 or random; "
          "eof: sequential to the end; seqnz: from anywhere; poisson"),
    WORKS(WD, "stride", apply_wd_stride,
          "(min,max): bytes left out behind a sequential request"),
    WORKS(WD, "priority", apply_wd_priority, "1 goes first"),
    WORKS(WD, "iorate", apply_wd_iorate,
          "a rate of its own; all workloads then want priority="),
    WORKS(WD, "rhpct", apply_wd_hits, "per cent of reads in hitarea="),
    WORKS(WD, "whpct", apply_wd_hits, "per cent of writes in hitarea="),
    WORKS(WD, "host", apply_wd_host, "hosts it runs on; all by default"),
    WHOLE(WD, "hd", apply_wd_host, "host="),
    WORKS(WD, "openflags", apply_wd_openflags,
          "as on sd=, before which it comes"),
    LATER_WHOLE(WD, "user", WORDS, "a Java class"),
    WORKS(WD, "threads", apply_wd_threads, "with concatenatesds= only"),
    WORKS(WD, "streams", apply_wd_streams,
          "sequential streams, each in its own slice of the sd"),

    /* rd=: runs. */
    WHOLE(RD, "wd", apply_rd_wd, "the workloads that run"),
    WHOLE(RD, "sd", apply_rd_sd,
          "sds in place of the workloads' own; single, setsofN, range"),
    WORKS(RD, "iorate", apply_rd_iorate,
          "requests a second: a number, a list, max, curve, N%"),
    WHOLE(RD, "maxdata", apply_rd_maxdata,
          "bytes after which a run ends; up to 100: times all its sds"),
    WHOLE(RD, "maxdataread", apply_rd_maxdata,
          "the same for what is read"),
    WHOLE(RD, "maxdatawritten", apply_rd_maxdata,
          "the same for what is written"),
    WORKS(RD, "curve", apply_rd_curve,
          "points of iorate=curve in per cent; 10,50,70,80,90,100"),
    WORKS(RD, "stopcurve", apply_rd_stopcurve,
          "mean service time in ms above which a curve ends"),
    WORKS(RD, "elapsed", apply_rd_elapsed, "seconds that are measured; 30"),
    WORKS(RD, "interval", apply_rd_interval, "seconds of an interval; 1"),
    WORKS(RD, "warmup", apply_rd_warmup, "seconds before the measured ones"),
    LATER_WHOLE(RD, "replay", WORDS, "replay of recorded I/O"),
    WORKS(RD, "pause", apply_rd_pause, "seconds before the run"),
    WORKS(RD, "forxfersize", apply_rd_loop, "a run for each xfersize="),
    WORKS(RD, "forthreads", apply_rd_loop, "a run for each threads="),
    WORKS(RD, "forrdpct", apply_rd_loop, "a run for each rdpct="),
    WORKS(RD, "forrhpct", apply_rd_loop, "a run for each rhpct="),
    WORKS(RD, "forwhpct", apply_rd_loop, "a run for each whpct="),
    WORKS(RD, "forseekpct", apply_rd_loop, "a run for each seekpct="),
    WORKS(RD, "forhitarea", apply_rd_loop, "a run for each hitarea="),
    WORKS(RD, "forcompratio", apply_rd_loop,
          "a run for each compratio="),
    WORKS(RD, "forcompression", apply_rd_loop,
          "a run for each compression="),
    LATER(RD, "fordepth", NUMBERS, "file systems only"),
    LATER(RD, "forwidth", NUMBERS, "file systems only"),
    LATER(RD, "forfiles", NUMBERS, "file systems only"),
    LATER(RD, "forsizes", NUMBERS, "file systems only"),
    LATER(RD, "fortotalsize", NUMBERS, "file systems only"),
    LATER(RD, "forwss", NUMBERS, "file systems only"),
    LATER(RD, "forworkingsetsize", NUMBERS, "file systems only"),
    LATER(RD, "foroperations", WORDS, "file systems only"),
    WORKS(RD, "xfersize", apply_rd_loop, "forxfersize="),
    WORKS(RD, "threads", apply_rd_loop, "forthreads="),
    WORKS(RD, "rdpct", apply_rd_loop, "forrdpct="),
    WORKS(RD, "rhpct", apply_rd_loop, "forrhpct="),
    WORKS(RD, "whpct", apply_rd_loop, "forwhpct="),
    WORKS(RD, "seekpct", apply_rd_loop, "forseekpct="),
    WORKS(RD, "hitarea", apply_rd_loop, "forhitarea="),
    WORKS(RD, "compratio", apply_rd_loop, "forcompratio="),
    WORKS(RD, "compression", apply_rd_loop, "forcompression="),
    LATER(RD, "depth", NUMBERS, "file systems only"),
    LATER(RD, "width", NUMBERS, "file systems only"),
    LATER(RD, "files", NUMBERS, "file systems only"),
    LATER(RD, "sizes", NUMBERS, "file systems only"),
    LATER(RD, "totalsize", NUMBERS, "file systems only"),
    LATER(RD, "wss", NUMBERS, "file systems only"),
    LATER(RD, "workingsetsize", NUMBERS, "file systems only"),
    WORKS(RD, "distribution", apply_rd_distribution,
          "of arrivals: exponential, uniform, deterministic; variable, spike"),
    WORKS(RD, "startcmd", apply_rd_commands,
          "commands before each run, on its hosts, where their agents' "
          "configuration names them; master: on the controller's host"),
    WORKS(RD, "start_cmd", apply_rd_commands, "startcmd="),
    WORKS(RD, "endcmd", apply_rd_commands, "commands after each run"),
    WORKS(RD, "end_cmd", apply_rd_commands, "endcmd="),
    LATER(RD, "fwdrate", WORDS, "file systems only"),
    LATER(RD, "operations", WORDS, "file systems only"),
    IDLE(RD, "format", "file systems only"),
    WORKS(RD, "openflags", apply_rd_openflags,
          "as on sd= and wd=, before which it comes"),
    LATER(RD, "mount", WORDS, "file systems only"),
    WHOLE(RD, "curve_scope", apply_rd_curve_scope,
          "what the percentages of a curve are of: cluster, the maximum of all "
          "together; drive, what each drive did by itself"),
    WHOLE(RD, "find", apply_rd_find,
          "with iorate=find: (p99,2ms), what the highest rate must keep"),
    WHOLE(RD, "arrival_precision", apply_rd_arrival_precision,
          "how arrivals of a rate are awaited: sleep; spin, which polls for "
          "the last 100us, for 30% of each worker's time at most; N%, the "
          "same with another share"),
    WHOLE(RD, "repeat", apply_rd_repeat, "each run so often in a row"),
};
/* clang-format on */

const uint32_t parameter_table_length = ARRAY_LENGTH(parameter_table);

const struct parameter_kind *parameter_find(enum section section,
                                            const char *keyword)
{
    size_t length = strlen(keyword);

    if (length < 2)
        return NULL;
    for (uint32_t i = 0; i < parameter_table_length; i++) {
        const struct parameter_kind *kind = &parameter_table[i];

        if (kind->section != section)
            continue;
        if (kind->whole ? strcmp(kind->name, keyword) == 0
                        : strncmp(kind->name, keyword, length) == 0)
            return kind;
    }
    return NULL;
}
