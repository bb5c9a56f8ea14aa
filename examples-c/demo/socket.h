/* socket.h: non-blocking TCP sockets. */
#ifndef DEMO_SOCKET_H
#define DEMO_SOCKET_H

/* Makes a descriptor non-blocking and private to this process. Returns 0 or an errno. */
int socket_prepare(int fd);

/* Begins to connect to a port of 127.0.0.1. Returns 0, with a socket (owned): it can be written to
 * as soon as socket_error says how the connection went; or an errno. */
int socket_connect(unsigned port, int *fd);

/* The error that a socket has met, which is forgotten then; or 0. */
int socket_error(int fd);

#endif
