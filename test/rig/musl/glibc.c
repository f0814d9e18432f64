/*
 * What Debian's libstdc++ and libgcc_s ask glibc for and musl doesn't have. Under the name of glibc's
 * loader, which they want too, this lets programs for musl run on them: Debian has no others for musl.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

char __libc_single_threaded = 0;

uint32_t arc4random(void) {
  uint32_t value = 0;
  getrandom(&value, sizeof value, 0);
  return value;
}

size_t __strftime_l(char *to, size_t most, const char *format, const struct tm *at, locale_t in) {
  return strftime_l(to, most, format, at, in);
}

/* Destructors of a thread's own objects, the newest first. */
struct ending {
  void (*run)(void *);
  void *object;
  struct ending *before;
};
static pthread_key_t endings;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void run_endings(void *newest) {
  for (struct ending *one = newest; one != NULL;) {
    struct ending *before = one->before;
    one->run(one->object);
    free(one);
    one = before;
  }
}

static void make_endings(void) { pthread_key_create(&endings, run_endings); }

int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library) {
  (void)library;
  pthread_once(&made, make_endings);
  struct ending *one = malloc(sizeof *one);
  if (one == NULL) return -1;
  *one = (struct ending){run, object, pthread_getspecific(endings)};
  return pthread_setspecific(endings, one);
}

/* Where the tables for unwinding are: glibc's struct dl_find_object. */
struct found {
  unsigned long long flags;
  void *start, *end, *map, *tables;
  unsigned long long reserved[7];
};
struct search {
  uintptr_t address;
  struct found *found;
};

static int look(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  const struct search *search = data;
  uintptr_t start = UINTPTR_MAX, end = 0, tables = 0;
  int holds = 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) tables = from;
    if (part->p_type != PT_LOAD) continue;
    if (from < start) start = from;
    if (to > end) end = to;
    holds |= search->address >= from && search->address < to;
  }
  if (!holds || tables == 0) return 0;
  *search->found = (struct found){0, (void *)start, (void *)end, NULL, (void *)tables, {0}};
  return 1;
}

int _dl_find_object(void *address, struct found *found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look, &search) ? 0 : -1;
}

/* libgcc_s has these itself, under a version that musl's loader passes over. */
struct {
  unsigned int vendor, type, subtype, features;
} __cpu_model;
int __cpu_indicator_init(void) { return 0; }
