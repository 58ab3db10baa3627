/*
 * Who is at the other end.  libmicrohttpd's TLS takes any certificate; the
 * lab's rules are those of common/tls.h.
 */
#include "controller/http/inside.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* As channels write it. */
static void print_address(struct MHD_Connection *connection, char *text)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char host[64] = "?", port[16] = "?";
    socklen_t length = info->client_addr->sa_family == AF_INET6
                           ? sizeof(struct sockaddr_in6)
                           : sizeof(struct sockaddr_in);

    (void)getnameinfo(info->client_addr, length, host, sizeof(host), port,
                      sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(text, LINK_ADDRESS_SIZE,
                   strchr(host, ':') == NULL ? "%s:%s" : "[%s]:%s", host, port);
}

static int check_certificate(const struct http *http,
                             struct MHD_Connection *connection,
                             struct peer *peer, struct diag *diag)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const gnutls_datum_t *chain;
    unsigned count = 0;

    chain = gnutls_certificate_get_peers((gnutls_session_t)info->tls_session,
                                         &count);
    if (chain == NULL || count == 0)
        return diag_set(diag, -EACCES,
                        "this needs a certificate of the lab: make a bundle "
                        "with 'lockstep keys operator NAME' and give it to "
                        "the browser, see lockstepd(8)");
    return tls_context_vouch(http->tls, chain[0].data, chain[0].size,
                             TLS_ROLE_OPERATOR | TLS_ROLE_VIEWER, peer->name,
                             &peer->role, diag);
}

int peer_of(const struct http *http, struct MHD_Connection *connection,
            struct peer *ret_peer, struct diag *diag)
{
    int err = 0;

    *ret_peer = (struct peer){.role = TLS_ROLE_NONE};
    print_address(connection, ret_peer->address);
    if (http->tls != NULL)
        err = check_certificate(http, connection, ret_peer, diag);
    ret_peer->may_change = http->tls != NULL
                               ? err == 0 && ret_peer->role == TLS_ROLE_OPERATOR
                               : !http->has_keys;
    return err;
}
