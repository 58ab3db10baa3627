#include "controller/fleet/greeting.h"

#include "controller/fleet/agent_session.h"
#include "controller/fleet/registry.h"

#include <errno.h>
#include <string.h>

static int check_version(const struct link *link, const char *who,
                         const char *name, uint32_t major, uint32_t minor,
                         const char *version, struct diag *diag)
{
    if (major == WIRE_MAJOR)
        return 0; /* a newer minor says more than we understand: fine */
    return diag_set(diag, -EPROTONOSUPPORT,
                    "%s '%s' (%s) at %s speaks protocol %u.%u, this "
                    "controller (" LOCKSTEP_VERSION ") speaks %u.%u; install "
                    "the same major version on both",
                    who, name, version, link->address, major, minor, WIRE_MAJOR,
                    WIRE_MINOR);
}

/* Without TLS (loopback, socket pairs) whoever can connect is believed.  What
 * a viewer may ask is the requests' to say. */
static int check_role(const struct link *link, enum tls_role needed,
                      struct diag *diag)
{
    if (link->role == TLS_ROLE_NONE || link->role == needed ||
        (needed == TLS_ROLE_OPERATOR && link->role == TLS_ROLE_VIEWER))
        return 0;
    return diag_set(diag, -EACCES,
                    "the certificate '%s' at %s is for the role %s, this "
                    "needs the role %s%s ('lockstep keys %s NAME')",
                    link->name, link->address, tls_role_name(link->role),
                    tls_role_name(needed),
                    needed == TLS_ROLE_OPERATOR ? " or viewer" : "",
                    tls_role_name(needed));
}

static int check_name(const struct link *link, const char *name,
                      struct diag *diag)
{
    if (link->role == TLS_ROLE_NONE || strcmp(link->name, name) == 0)
        return 0;
    return diag_set(diag, -EACCES,
                    "agent at %s calls itself '%s', its certificate is for "
                    "'%s'; set name=%s or make keys for '%s'",
                    link->address, name, link->name, link->name, name);
}

int greeting_agent(const struct link *link,
                   const struct wire_agent_hello *hello,
                   const struct host *host, struct diag *diag)
{
    int err = check_version(link, "agent", hello->name, hello->major,
                            hello->minor, hello->version, diag);

    if (err == 0)
        err = check_role(link, TLS_ROLE_AGENT, diag);
    if (err == 0)
        err = check_name(link, hello->name, diag);
    if (err != 0)
        return err;
    if (host != NULL && host->session != NULL &&
        !wire_uuid_equal(&host->session->instance, &hello->instance))
        return diag_set(diag, -EADDRINUSE,
                        "agent '%s' at %s: another agent of that name is "
                        "connected from %s; give one of them another name",
                        hello->name, link->address,
                        host->session->link->address);
    return 0;
}

int greeting_shell(const struct link *link,
                   const struct wire_shell_hello *hello, struct diag *diag)
{
    int err = check_version(link, "shell of", hello->user, hello->major,
                            hello->minor, hello->version, diag);

    return err != 0 ? err : check_role(link, TLS_ROLE_OPERATOR, diag);
}
