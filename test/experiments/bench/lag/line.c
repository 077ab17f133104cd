// A line of any length between two new network namespaces, for kernels without netem: line RTT_MS [MBIT_PER_SECOND] [LOSS]
// (0: no limit; LOSS from 0 to 1, for both directions). Prints the paths of both namespaces: 10.99.0.1 is in the first,
// 10.99.0.2 in the second. It ends with its standard input, and the namespaces with it, since nothing else holds them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKETS = 1 << 16, LONGEST = 1500 };
static const int64_t SECOND = 1000000000;

struct packet {
  int64_t due;
  int length;
  unsigned char bytes[LONGEST];
};

/** One direction: packets that were read from one side and are due at the other. */
struct direction {
  int from, to;
  unsigned first, end;
  /** When the last packet has gone onto the line. */
  int64_t free_at;
  struct packet *packets;
};

struct nature {
  int64_t delay;
  double nanoseconds_per_byte, loss;
};

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

static void ask(int socket, unsigned long request, struct ifreq *with) {
  if (ioctl(socket, request, with)) err(1, "ioctl 0x%lx of %s", request, with->ifr_name);
}

static void set_address(int socket, unsigned long request, struct ifreq *of, const char *address) {
  struct sockaddr_in *in = (struct sockaddr_in *)&of->ifr_addr;
  in->sin_family = AF_INET;
  inet_pton(AF_INET, address, &in->sin_addr);
  ask(socket, request, of);
}

static void bring_up(int socket, struct ifreq *device) {
  ask(socket, SIOCGIFFLAGS, device);
  device->ifr_flags |= IFF_UP;
  ask(socket, SIOCSIFFLAGS, device);
}

/** Moves this process into a new namespace, and opens the device that is that namespace's end of the line. */
static int open_end(const char *address, const char *peer, int *namespace) {
  if (unshare(CLONE_NEWNET)) err(1, "a network namespace");
  *namespace = open("/proc/self/ns/net", O_RDONLY);
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  if (tun < 0) err(1, "/dev/net/tun");
  struct ifreq device = {.ifr_name = "line0", .ifr_flags = IFF_TUN | IFF_NO_PI}, loopback = {.ifr_name = "lo"};
  ask(tun, TUNSETIFF, &device);
  int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
  set_address(socket_, SIOCSIFADDR, &device, address);
  set_address(socket_, SIOCSIFDSTADDR, &device, peer);
  device.ifr_qlen = 10000;
  ask(socket_, SIOCSIFTXQLEN, &device);
  bring_up(socket_, &device);
  bring_up(socket_, &loopback);
  close(socket_);
  return tun;
}

/** Takes what is there to be read. A router's queue of 200 ms drops what is beyond. */
static void take(struct direction *line, const struct nature *nature) {
  for (int count = 0; count < 64; count++) {
    struct packet *packet = &line->packets[line->end % PACKETS];
    if (line->end - line->first == PACKETS) return;
    packet->length = read(line->from, packet->bytes, LONGEST);
    if (packet->length <= 0) return;
    int64_t time = now();
    if (drand48() < nature->loss || line->free_at - time > SECOND / 5) continue;
    if (line->free_at < time) line->free_at = time;
    line->free_at += (int64_t)(packet->length * nature->nanoseconds_per_byte);
    packet->due = line->free_at + nature->delay;
    line->end++;
  }
}

static void deliver(struct direction *line) {
  for (int64_t time = now(); line->first != line->end; line->first++) {
    struct packet *packet = &line->packets[line->first % PACKETS];
    if (packet->due > time) return;
    // A device that takes no more has dropped it, as on any line.
    if (write(line->to, packet->bytes, packet->length) < 0) continue;
  }
}

/** How long until the next packet is due; negative: none is on its way. */
static int64_t wait_for(const struct direction *line) {
  if (line->first == line->end) return -1;
  int64_t wait = line->packets[line->first % PACKETS].due - now();
  return wait > 0 ? wait : 0;
}

static double number(int count, char **words, int index) { return index < count ? atof(words[index]) : 0; }

int main(int count, char **words) {
  double rate = number(count, words, 2);
  struct nature nature = {
      .delay = (int64_t)(number(count, words, 1) / 2000 * SECOND),
      .nanoseconds_per_byte = rate > 0 ? 8000 / rate : 0,
      .loss = number(count, words, 3),
  };
  int near_space, far_space;
  int near = open_end("10.99.0.1", "10.99.0.2", &near_space), far = open_end("10.99.0.2", "10.99.0.1", &far_space);
  struct direction there = {near, far, 0, 0, 0, calloc(PACKETS, sizeof(struct packet))};
  struct direction back = {far, near, 0, 0, 0, calloc(PACKETS, sizeof(struct packet))};
  if (there.packets == NULL || back.packets == NULL) err(1, "memory");
  printf("/proc/%d/fd/%d /proc/%d/fd/%d\n", getpid(), near_space, getpid(), far_space);
  fflush(stdout);
  struct pollfd ends[] = {{near, POLLIN, 0}, {far, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  while (ends[2].revents == 0) {
    int64_t one = wait_for(&there), other = wait_for(&back);
    int64_t wait = one < 0 || (other >= 0 && other < one) ? other : one;
    struct timespec timeout = {wait / SECOND, wait % SECOND};
    ppoll(ends, 3, wait < 0 ? NULL : &timeout, NULL);
    take(&there, &nature);
    take(&back, &nature);
    deliver(&there);
    deliver(&back);
  }
  return 0;
}
