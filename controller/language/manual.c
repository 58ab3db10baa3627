/*
 * manual.c - the manual page lockstep-campaign(5), made from the one table of
 * parameters.
 *
 * deploy/man/lockstep-campaign.5 is its output; a test compares the two.
 */
#include "controller/language/internal.h"

#include <stdio.h>
#include <stdlib.h>

static const char head[] =
    ".\\\" Made from the table in controller/language/parameters.c: see\n"
    ".\\\" tests/unit/language/test_manual.c.  Do not edit.\n"
    ".TH LOCKSTEP-CAMPAIGN 5 \"\" Lockstep\n"
    ".SH NAME\n"
    "lockstep-campaign \\- parameter files for storage load\n"
    ".SH DESCRIPTION\n"
    "A campaign is a parameter file in vdbench's language for raw I/O.\n"
    "Entries come in this order: general parameters, hosts (hd=), storage\n"
    "(sd=), workloads (wd=), runs (rd=).\n"
    "An entry goes on over lines until the next one begins.\n"
    "What stands behind the first blank of a line is a comment, as is a line\n"
    "that begins with *, # or /.\n"
    ".PP\n"
    "Keywords may be cut to two letters or more, but for those marked\n"
    ".B in full.\n"
    "Sizes take k, m, g and t, powers of 1024; times are seconds, or take ms,\n"
    "us, s, m or h.\n"
    "Lists stand in parentheses: (1,2,4), (1-10,3), (1-64,d) doubles.\n"
    "A name that ends in * means all that begin so.\n"
    "$NAME and !NAME are variables, given as NAME=VALUE on the command line.\n"
    ".B include=FILE\n"
    "alone on a line reads another file.\n"
    ".PP\n"
    ".B lockstep check\n"
    "prints what a file will do, and all that is wrong with it.\n";

static const char *const titles[SECTIONS] = {
    [SECTION_GENERAL] = "GENERAL PARAMETERS",
    [SECTION_HD] = "HOSTS: hd=NAME",
    [SECTION_SD] = "STORAGE: sd=NAME",
    [SECTION_WD] = "WORKLOADS: wd=NAME",
    [SECTION_RD] = "RUNS: rd=NAME",
};

static const char tail[] = ".SH EXAMPLE\n"
                           ".nf\n"
                           "hd=nas1,system=10.0.0.1\n"
                           "hd=nas2,system=10.0.0.2\n"
                           "sd=default,openflags=o_direct,threads=32\n"
                           "sd=sd1,lun=/dev/nvme0n1\n"
                           "wd=oltp,sd=sd*,xfersize=(4k,70,8k,30),rdpct=70\n"
                           "rd=rd1,wd=oltp,iorate=curve,elapsed=60,warmup=10\n"
                           ".fi\n"
                           ".SH SEE ALSO\n"
                           ".BR lockstep (1),\n"
                           ".BR lockstepd (8),\n"
                           ".BR lockstep-agent (8)\n";

/* A leading '.' or a '-' means something to troff. */
static void write_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '-' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void write_parameter(FILE *out, const struct parameter_kind *kind)
{
    fputs(".TP\n.B ", out);
    write_text(out, kind->name);
    fputs("=\n", out);
    write_text(out, kind->help);
    fputs(".\n", out);
    if (kind->whole)
        fputs("Written in full.\n", out);
    if (kind->support == PARAMETER_NO_EFFECT)
        fputs("Accepted, without effect here.\n", out);
    if (kind->support == PARAMETER_NOT_YET)
        fputs("Read, and refused: not supported yet.\n", out);
}

char *language_manual(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    fputs(head, out);
    for (uint32_t i = 0; i < parameter_table_length; i++) {
        const struct parameter_kind *kind = &parameter_table[i];

        if (i == 0 || kind->section != parameter_table[i - 1].section)
            fprintf(out, ".SH %s\n", titles[kind->section]);
        write_parameter(out, kind);
    }
    fputs(tail, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
