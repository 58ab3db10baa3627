/*
 * render.h - what is made of a campaign: the report page, exports, and what
 * `lockstep run` leaves in its directory.
 */
#ifndef CONTROLLER_SHELL_RENDER_H
#define CONTROLLER_SHELL_RENDER_H

#include "controller/report/vdbench.h"
#include "controller/shell/client.h"
#include "controller/shell/options.h"

/* lockstep report, lockstep export: the exit status. */
int report_command(const struct options *options);
int export_command(const struct options *options);

/*
 * At the end of a run: report.html, results.csv and the rest of the vdbench
 * files, which `folder` wrote as it went.  Takes the folder.  What cannot be
 * written is said on stderr.
 */
void render_run(struct client *client, const char *campaign,
                const char *directory, struct vdbench *folder);

#endif
