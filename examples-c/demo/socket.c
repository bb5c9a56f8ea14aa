/* socket.c: system calls whose failure is an errno that is returned. */
#define _POSIX_C_SOURCE 200809L
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int socket_prepare(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
        return errno;
    }
    return 0;
}

int socket_connect(unsigned port, int *fd) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM, 0);
    if (*fd < 0) {
        return errno;
    }
    int error = socket_prepare(*fd);
    if (error == 0 && connect(*fd, (struct sockaddr *)&address, sizeof address) < 0 &&
        errno != EINPROGRESS && errno != EINTR) {
        error = errno;
    }
    if (error != 0) {
        close(*fd);
        *fd = -1;
    }
    return error;
}

int socket_error(int fd) {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}
