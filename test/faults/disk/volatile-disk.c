/*
 * A disk with a volatile write cache, for power-cut tests.
 *
 * The program serves one file, `disk`, of the size and content of a given image, through /dev/fuse (it speaks the
 * kernel's protocol itself; no library is needed). A loop device on that file is the disk. What is written to it is
 * remembered but not safe; a flush (the FSYNC a loop device makes of a block-layer flush) makes safe what was written
 * before it. The image itself is never changed.
 *
 *     volatile-disk MOUNT_POINT IMAGE
 *
 * Commands come as lines on standard input, and the end of input ends the program. Each is answered by a line on
 * standard output; the first line, `ready`, says that the disk can be used.
 *
 *     cut PATH SURVIVAL GRAIN SEED DELAY
 *         Writes what a power cut would leave: every flushed byte, and of the writes not yet flushed each piece of
 *         GRAIN bytes with probability SURVIVAL (0..1), in any combination, as a disk may. The moment is now, or, when
 *         DELAY is not 0, right after that many more writes, so that at least one is not yet flushed. Work goes on
 *         meanwhile. One cut waits at a time. Answer: cut PATH pending=W kept=K lost=L flushes=F writes=N
 *     latency MICROSECONDS
 *         How long a flush takes; 0 at first.
 *     fail-write never|next|always
 *         Writes end with an I/O error.
 *     fail-flush never|next|always
 *         Flushes end with an I/O error, and what they should have made safe stays unsafe.
 *
 * One thread, no locks: requests of the kernel and commands are taken in turn, so a cut falls between two requests and
 * is a single moment. The copy is made by a forked child from its snapshot of this memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
  BLOCK = 4096,
  LARGEST_WRITE = 1 << 20,
  REQUEST_BUFFER = LARGEST_WRITE + 16 * BLOCK,
  LONGEST_COMMAND = 1024,
  MOST_WAITING_FLUSHES = 64,
  ROOT_NODE = 1,
  DISK_NODE = 2,
  /* The kernel may keep names and attributes as long as it likes: they never change. */
  KEEP_SECONDS = 1000000,
};

static const char DISK_NAME[] = "disk";

typedef enum { FAIL_NEVER, FAIL_NEXT, FAIL_ALWAYS } Failure;

typedef struct {
  uint64_t offset;
  uint32_t size;
  uint8_t *bytes;
} Write;

/* A flush that has been asked for but not answered: it covers the oldest `covers` pending writes. */
typedef struct {
  uint64_t request;
  size_t covers;
  int64_t due_us;
} Flush;

typedef struct {
  char path[LONGEST_COMMAND];
  double survival;
  uint32_t grain;
  uint64_t seed;
  uint64_t delay_writes; /* 0: none is waiting */
} Cut;

static struct {
  int fuse;
  uint64_t size;

  uint8_t *current; /* what a reader sees: all writes */
  uint8_t *safe;    /* what survives for certain: flushed writes */
  bool *present;    /* per block of `safe`: not a hole */

  Write *pending; /* not yet flushed, oldest first */
  size_t pending_count;
  size_t pending_room;

  Flush waiting[MOST_WAITING_FLUSHES]; /* oldest first */
  size_t waiting_count;

  Cut next_cut;
  int64_t latency_us;
  Failure fail_write;
  Failure fail_flush;

  uint64_t flushes;
  uint64_t writes;
} disk;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void *must(void *memory) {
  if (memory == NULL) die("memory");
  return memory;
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Whether this request is to fail; a failure of the next one only is used up. */
static bool fails(Failure *failure) {
  bool now = *failure != FAIL_NEVER;
  if (*failure == FAIL_NEXT) *failure = FAIL_NEVER;
  return now;
}

/* ---- pending writes and flushes ---- */

static void remember_write(uint64_t offset, uint32_t size, const uint8_t *bytes) {
  if (disk.pending_count == disk.pending_room) {
    disk.pending_room = disk.pending_room == 0 ? 1024 : disk.pending_room * 2;
    disk.pending = must(realloc(disk.pending, disk.pending_room * sizeof(Write)));
  }
  uint8_t *copy = must(malloc(size));
  memcpy(copy, bytes, size);
  disk.pending[disk.pending_count++] = (Write){offset, size, copy};
  memcpy(disk.current + offset, bytes, size);
  disk.writes++;
}

static void make_safe(const Write *write) {
  memcpy(disk.safe + write->offset, write->bytes, write->size);
  uint64_t last = (write->offset + write->size - 1) / BLOCK;
  for (uint64_t block = write->offset / BLOCK; block <= last; block++) disk.present[block] = true;
}

/* Makes the oldest `count` pending writes safe and forgets them. */
static void settle_writes(size_t count) {
  for (size_t index = 0; index < count; index++) {
    make_safe(&disk.pending[index]);
    free(disk.pending[index].bytes);
  }
  disk.pending_count -= count;
  memmove(disk.pending, disk.pending + count, disk.pending_count * sizeof(Write));
  for (size_t index = 0; index < disk.waiting_count; index++) {
    Flush *flush = &disk.waiting[index];
    flush->covers = flush->covers > count ? flush->covers - count : 0;
  }
}

static void take_cut(const Cut *cut);

/* ---- answers to the kernel ---- */

static void reply(uint64_t request, int error, const void *data, size_t size) {
  struct fuse_out_header header = {.len = (uint32_t)(sizeof header + size), .error = -error, .unique = request};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)data, size}};
  /* ENOENT: the asker was killed and nobody waits for the answer. */
  if (writev(disk.fuse, parts, size > 0 ? 2 : 1) < 0 && errno != ENOENT) perror("reply");
}

static void reply_error(uint64_t request, int error) {
  reply(request, error, NULL, 0);
}

static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr attr = {.ino = node, .blksize = BLOCK, .nlink = 1};
  if (node == ROOT_NODE) {
    attr.mode = S_IFDIR | 0700;
  } else {
    attr.mode = S_IFREG | 0600;
    attr.size = disk.size;
    attr.blocks = disk.size / 512;
  }
  return attr;
}

static void on_init(uint64_t request, const struct fuse_init_in *in) {
  struct fuse_init_out out = {
      .major = FUSE_KERNEL_VERSION,
      .minor = 31, /* all that is used here; a newer kernel lowers itself to it */
      .flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES,
      .max_write = LARGEST_WRITE,
      .max_pages = LARGEST_WRITE / BLOCK,
      .max_background = 64,
      .congestion_threshold = 48,
      .time_gran = 1,
  };
  if (in->major != FUSE_KERNEL_VERSION || in->minor < out.minor) {
    fprintf(stderr, "the kernel speaks FUSE %u.%u, too old\n", in->major, in->minor);
    exit(1);
  }
  reply(request, 0, &out, sizeof out);
}

static void on_lookup(uint64_t request, const char *name) {
  if (strcmp(name, DISK_NAME) != 0) {
    reply_error(request, ENOENT);
    return;
  }
  struct fuse_entry_out out = {
      .nodeid = DISK_NODE,
      .entry_valid = KEEP_SECONDS,
      .attr_valid = KEEP_SECONDS,
      .attr = attributes(DISK_NODE),
  };
  reply(request, 0, &out, sizeof out);
}

static void on_getattr(uint64_t request, uint64_t node) {
  struct fuse_attr_out out = {.attr_valid = KEEP_SECONDS, .attr = attributes(node)};
  reply(request, 0, &out, sizeof out);
}

static void on_open(uint64_t request, bool directory) {
  /* Direct: the kernel must not keep a cache of its own in front of this one. */
  struct fuse_open_out out = {.fh = 1, .open_flags = directory ? 0 : FOPEN_DIRECT_IO};
  reply(request, 0, &out, sizeof out);
}

static void on_read(uint64_t request, const struct fuse_read_in *in) {
  uint64_t size = in->size;
  if (in->offset >= disk.size) size = 0;
  else if (in->offset + size > disk.size) size = disk.size - in->offset;
  reply(request, 0, disk.current + in->offset, size);
}

static void on_write(uint64_t request, const struct fuse_write_in *in) {
  if (in->size == 0 || in->offset > disk.size || in->size > disk.size - in->offset) {
    reply_error(request, EINVAL);
    return;
  }
  if (fails(&disk.fail_write)) {
    reply_error(request, EIO);
    return;
  }
  remember_write(in->offset, in->size, (const uint8_t *)(in + 1));
  if (disk.next_cut.delay_writes > 0 && --disk.next_cut.delay_writes == 0) take_cut(&disk.next_cut);
  struct fuse_write_out out = {.size = in->size};
  reply(request, 0, &out, sizeof out);
}

static void finish_oldest_flush(void) {
  Flush flush = disk.waiting[0];
  disk.waiting_count--;
  memmove(disk.waiting, disk.waiting + 1, disk.waiting_count * sizeof(Flush));
  if (fails(&disk.fail_flush)) {
    reply_error(flush.request, EIO);
    return;
  }
  settle_writes(flush.covers);
  disk.flushes++;
  reply_error(flush.request, 0);
}

static void on_flush(uint64_t request) {
  if (disk.waiting_count == MOST_WAITING_FLUSHES) finish_oldest_flush();
  disk.waiting[disk.waiting_count++] = (Flush){request, disk.pending_count, now_us() + disk.latency_us};
}

static void finish_due_flushes(void) {
  while (disk.waiting_count > 0 && disk.waiting[0].due_us <= now_us()) finish_oldest_flush();
}

static void on_statfs(uint64_t request) {
  struct fuse_statfs_out out = {
      .st = {.bsize = BLOCK, .frsize = BLOCK, .blocks = disk.size / BLOCK, .namelen = sizeof DISK_NAME}};
  reply(request, 0, &out, sizeof out);
}

static void serve_request(const uint8_t *buffer) {
  const struct fuse_in_header *header = (const void *)buffer;
  const void *body = header + 1;
  switch (header->opcode) {
    case FUSE_INIT:
      on_init(header->unique, body);
      break;
    case FUSE_LOOKUP:
      on_lookup(header->unique, body);
      break;
    case FUSE_GETATTR:
      on_getattr(header->unique, header->nodeid);
      break;
    case FUSE_OPEN:
    case FUSE_OPENDIR:
      on_open(header->unique, header->opcode == FUSE_OPENDIR);
      break;
    case FUSE_READ:
      on_read(header->unique, body);
      break;
    case FUSE_WRITE:
      on_write(header->unique, body);
      break;
    case FUSE_FSYNC:
      on_flush(header->unique);
      break;
    case FUSE_STATFS:
      on_statfs(header->unique);
      break;
    case FUSE_FLUSH: /* close() of a descriptor, nothing to do with the disk's cache */
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
      reply_error(header->unique, 0);
      break;
    case FUSE_FORGET: /* these three want no answer */
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
      break;
    case FUSE_FALLOCATE: /* a discard: this disk cannot */
      reply_error(header->unique, EOPNOTSUPP);
      break;
    default:
      reply_error(header->unique, ENOSYS);
  }
}

/* ---- the cut ---- */

/* xorshift64*: the same seed makes the same choices everywhere. */
static double random_share(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)((*state * 0x2545F4914F6CDD1DULL) >> 11) / (double)(1ULL << 53);
}

static void write_fully(int file, const uint8_t *bytes, uint64_t size, uint64_t offset) {
  while (size > 0) {
    ssize_t done = pwrite(file, bytes, size, (off_t)offset);
    if (done <= 0) die("cut");
    bytes += done;
    size -= (uint64_t)done;
    offset += (uint64_t)done;
  }
}

static void write_safe_blocks(int file) {
  uint64_t blocks = disk.size / BLOCK;
  for (uint64_t first = 0; first < blocks;) {
    uint64_t end = first;
    while (end < blocks && disk.present[end]) end++;
    if (end > first) write_fully(file, disk.safe + first * BLOCK, (end - first) * BLOCK, first * BLOCK);
    first = end + 1;
  }
}

/* Runs in the forked child, whose memory is the disk at the moment of the cut. */
static void write_cut(const Cut *cut) {
  int file = open(cut->path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, (off_t)disk.size) < 0) die(cut->path);
  write_safe_blocks(file);
  uint64_t seed = cut->seed != 0 ? cut->seed : 1;
  uint64_t kept = 0, lost = 0;
  for (size_t index = 0; index < disk.pending_count; index++) {
    const Write *write = &disk.pending[index];
    for (uint32_t start = 0; start < write->size; start += cut->grain) {
      uint32_t size = write->size - start < cut->grain ? write->size - start : cut->grain;
      if (random_share(&seed) < cut->survival) {
        write_fully(file, write->bytes + start, size, write->offset + start);
        kept++;
      } else {
        lost++;
      }
    }
  }
  if (close(file) < 0) die(cut->path);
  printf("cut %s pending=%zu kept=%llu lost=%llu flushes=%llu writes=%llu\n", cut->path, disk.pending_count,
         (unsigned long long)kept, (unsigned long long)lost, (unsigned long long)disk.flushes,
         (unsigned long long)disk.writes);
  fflush(stdout); /* one short write to a pipe: never mixed with another */
  _exit(0);
}

static void take_cut(const Cut *cut) {
  pid_t child = fork();
  if (child < 0) die("fork");
  if (child > 0) return;
  close(disk.fuse);
  close(STDIN_FILENO);
  write_cut(cut);
}

/* ---- commands ---- */

static bool read_failure(const char *word, Failure *failure) {
  static const char *const names[] = {"never", "next", "always"};
  for (int index = 0; index < 3; index++) {
    if (strcmp(word, names[index]) == 0) {
      *failure = (Failure)index;
      return true;
    }
  }
  return false;
}

static void run_command(const char *line) {
  char text[LONGEST_COMMAND];
  long long latency;
  Cut cut;
  unsigned long long seed, delay;
  if (sscanf(line, "cut %1023s %lf %u %llu %llu", cut.path, &cut.survival, &cut.grain, &seed, &delay) == 5 &&
      cut.grain > 0) {
    cut.seed = seed;
    cut.delay_writes = delay;
    if (delay == 0) take_cut(&cut);
    else disk.next_cut = cut;
    return;
  }
  bool known = false;
  if (sscanf(line, "latency %lld", &latency) == 1 && latency >= 0) {
    disk.latency_us = latency;
    known = true;
  } else if (sscanf(line, "fail-write %1023s", text) == 1) {
    known = read_failure(text, &disk.fail_write);
  } else if (sscanf(line, "fail-flush %1023s", text) == 1) {
    known = read_failure(text, &disk.fail_flush);
  }
  printf("%s %s\n", known ? "done" : "unknown command:", line);
  fflush(stdout);
}

/* Runs every whole line that has come. Returns false at the end of input. */
static bool read_commands(void) {
  static char buffer[LONGEST_COMMAND];
  static size_t used;
  ssize_t size = read(STDIN_FILENO, buffer + used, sizeof buffer - 1 - used);
  if (size <= 0) return size < 0 && errno == EINTR;
  used += (size_t)size;
  buffer[used] = '\0';
  char *line = buffer;
  for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = '\0';
    run_command(line);
  }
  used = strlen(line);
  memmove(buffer, line, used + 1);
  return used < sizeof buffer - 1;
}

/* ---- life of the program ---- */

static void open_image(const char *path) {
  int image = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (image < 0 || fstat(image, &status) < 0) die(path);
  disk.size = (uint64_t)status.st_size / BLOCK * BLOCK;
  if (disk.size == 0) {
    fprintf(stderr, "%s is smaller than a block\n", path);
    exit(1);
  }
  /* Private mappings: blocks are shared with the image until they are written to, and the image never changes. */
  int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_NORESERVE;
  disk.current = mmap(NULL, disk.size, protection, flags, image, 0);
  disk.safe = mmap(NULL, disk.size, protection, flags, image, 0);
  if (disk.current == MAP_FAILED || disk.safe == MAP_FAILED) die("mmap");
  disk.present = must(calloc(disk.size / BLOCK, sizeof(bool)));
  off_t data = 0;
  while ((data = lseek(image, data, SEEK_DATA)) >= 0) {
    off_t hole = lseek(image, data, SEEK_HOLE);
    for (uint64_t block = (uint64_t)data / BLOCK; block < ((uint64_t)hole + BLOCK - 1) / BLOCK; block++) {
      if (block < disk.size / BLOCK) disk.present[block] = true;
    }
    data = hole;
  }
  close(image);
}

static void mount_fuse(const char *mount_point) {
  disk.fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (disk.fuse < 0) die("/dev/fuse");
  char options[128];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", disk.fuse);
  if (mount("volatile-disk", mount_point, "fuse", MS_NOSUID | MS_NODEV, options) < 0) die("mount");
}

/* Sleeps until there is a request, a command, or a flush whose time has come. */
static void wait_for_work(struct pollfd sources[2]) {
  struct timespec timeout, *until = NULL;
  if (disk.waiting_count > 0) {
    int64_t left = disk.waiting[0].due_us - now_us();
    if (left < 0) left = 0;
    timeout = (struct timespec){.tv_sec = left / 1000000, .tv_nsec = left % 1000000 * 1000};
    until = &timeout;
  }
  sources[0].revents = sources[1].revents = 0;
  if (ppoll(sources, 2, until, NULL) < 0 && errno != EINTR) die("poll");
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: volatile-disk MOUNT_POINT IMAGE\n");
    return 2;
  }
  signal(SIGCHLD, SIG_IGN); /* the children of cuts need no burial */
  open_image(arguments[2]);
  mount_fuse(arguments[1]);
  printf("ready\n");
  fflush(stdout);

  uint8_t *buffer = must(aligned_alloc(BLOCK, REQUEST_BUFFER));
  struct pollfd sources[2] = {{.fd = disk.fuse, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
  for (;;) {
    wait_for_work(sources);
    finish_due_flushes();
    if (sources[1].revents != 0 && !read_commands()) return 0;
    if (sources[0].revents & POLLERR) return 0; /* unmounted */
    if (!(sources[0].revents & POLLIN)) continue;
    ssize_t size = read(disk.fuse, buffer, REQUEST_BUFFER);
    if (size >= (ssize_t)sizeof(struct fuse_in_header)) serve_request(buffer);
    else if (size < 0 && errno == ENODEV) return 0; /* unmounted */
    else if (size < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT) die("read");
  }
}
