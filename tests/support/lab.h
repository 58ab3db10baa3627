/*
 * lab.h - keys of a test laboratory.
 */
#ifndef TESTS_SUPPORT_LAB_H
#define TESTS_SUPPORT_LAB_H

#include "common/tls.h"

/* A lab in a fresh directory below suite_directory(): its path, not freed. */
const char *lab_new(void);

/* The context of the lab's controller, or of an agent or operator that is
 * issued a bundle.  Freed by the caller. */
struct tls_context *lab_controller(const char *lab);
struct tls_context *lab_issue(const char *lab, enum tls_role role,
                              const char *name);

#endif
