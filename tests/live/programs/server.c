/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server on a unix socket that answers each line, in one loop: as it should
 * be (clean), with its epoll set made anew for each wait (epoll-churn), with no
 * wait at all (eagain-spin), or in small pieces (small-send).  TERM ends it
 * with status 0.
 *
 * usage: server WAY SOCKET
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 16

static volatile sig_atomic_t stop;
static int fds[CLIENTS_MAX + 1]; /* [0] listens; -1 free */
static int set;
static int churns, spins, pieces;

static void stopped(int number)
{
	(void)number;
	stop = 1;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void control(int op, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(set, op, fd, &event) < 0)
		fail("epoll_ctl");
}

static void control_all(int op)
{
	for (size_t i = 0; i <= CLIENTS_MAX; i++)
		if (fds[i] >= 0)
			control(op, fds[i]);
}

static void send_all(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0 && errno != EPIPE)
		fail("send");
}

static void answer(int fd)
{
	if (!pieces) {
		send_all(fd, "status: 200\nlength: 6\nhello\n");
		return;
	}
	send_all(fd, "status: 200\n");
	send_all(fd, "length: 6\n");
	send_all(fd, "hello\n");
}

static void accept_one(void)
{
	int fd = accept4(fds[0], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	size_t i = 1;

	if (fd < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (fd < 0)
		fail("accept4");
	while (i <= CLIENTS_MAX && fds[i] >= 0)
		i++;
	if (i > CLIENTS_MAX) {
		(void)close(fd);
		return;
	}
	fds[i] = fd;
	if (!churns && !spins)
		control(EPOLL_CTL_ADD, fd);
}

static void look_at(size_t i)
{
	char line[256];
	ssize_t got = recv(fds[i], line, sizeof line, 0);

	if (got > 0) {
		answer(fds[i]);
		return;
	}
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* The kernel takes it off the set. */
	(void)close(fds[i]);
	fds[i] = -1;
}

static void wait_once(void)
{
	struct epoll_event events[CLIENTS_MAX + 1];
	int ready;

	if (churns)
		control_all(EPOLL_CTL_ADD);
	ready = epoll_wait(set, events, CLIENTS_MAX + 1, -1);
	if (churns)
		control_all(EPOLL_CTL_DEL);
	for (int k = 0; k < ready; k++) {
		for (size_t i = 1; i <= CLIENTS_MAX; i++)
			if (fds[i] == events[k].data.fd)
				look_at(i);
		if (fds[0] == events[k].data.fd)
			accept_one();
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct sigaction action = { .sa_handler = stopped };

	if (argc != 3 || strlen(argv[2]) >= sizeof address.sun_path)
		return 2;
	churns = strcmp(argv[1], "epoll-churn") == 0;
	spins = strcmp(argv[1], "eagain-spin") == 0;
	pieces = strcmp(argv[1], "small-send") == 0;
	(void)strcpy(address.sun_path, argv[2]);
	memset(fds, -1, sizeof fds);
	if (sigaction(SIGTERM, &action, NULL) < 0)
		fail("sigaction");
	set = epoll_create1(EPOLL_CLOEXEC);
	fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (set < 0 || fds[0] < 0 || bind(fds[0], (struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(fds[0], CLIENTS_MAX) < 0)
		fail(argv[2]);
	if (!churns && !spins)
		control(EPOLL_CTL_ADD, fds[0]);
	while (!stop) {
		if (!spins) {
			wait_once();
			continue;
		}
		accept_one();
		for (size_t i = 1; i <= CLIENTS_MAX; i++)
			if (fds[i] >= 0)
				look_at(i);
	}
	(void)unlink(argv[2]);
	return 0;
}
