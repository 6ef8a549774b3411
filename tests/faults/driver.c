/* Faults in every program of the suite, the way SQLite is tested: the first allocation fails, then
 * the second, ... until the command runs through without having met the failure; then the same with
 * all that follow failing, too, and with every kind of system call.  At the end the program is
 * killed at every call of the file system, and the command is run again.
 *
 *     driver [OPTION]... PROGRAMS LIBRARY TESTS INPUTS COMMANDS
 *
 * PROGRAMS, TESTS and INPUTS are folders, LIBRARY is what to preload, COMMANDS is the list
 * (commands.h).  Options:
 *
 *     --most N         at most about N places for each kind of call: every second, third ... one
 *     --first          only the first command of each program
 *     --threads LIST   such as 1,3
 *     --jobs N         commands at a time
 *     --work FOLDER    where the programs run
 *     --only NAME      one command
 *     --at WHAT        one run of it, and what it says: CALL:once:N, CALL:always:N, kill:KILL:N
 *     --log FILE       every defect on a line
 *
 * Ends with tables and exit status 1 if there was a defect. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "judge.h"
#include "run.h"

enum { MOST_THREAD_COUNTS = 4, KILLS = 2 };

static const int kill_signals[KILLS] = {SIGKILL, SIGTERM};
static const char *const kill_names[KILLS] = {"KILL", "TERM"};
static const char *const mode_names[] = {"none", "once", "always"};

static struct {
    unsigned long most;
    bool first;
    unsigned threads[MOST_THREAD_COUNTS];
    size_t thread_counts;
    unsigned jobs;
    const char *work, *only, *at, *log;
    const char *programs, *library, *tests, *inputs;
} options = {.most = 400, .threads = {1, 3}, .thread_counts = 2, .jobs = 1, .work = "/tmp"};

struct kill_counts {
    unsigned long points, complete, resumed, left, defects;
    char names[256]; /* of what was left */
};

/* Of one command; in memory that all workers share. */
struct tally {
    unsigned long verdicts[CALLS][VERDICTS];
    struct kill_counts kills[KILLS];
    uint64_t hashes[MOST_THREAD_COUNTS];
    bool done[MOST_THREAD_COUNTS];
};

static struct {
    atomic_ulong next; /* command and threads that nobody has begun yet */
    struct tally tallies[COMMAND_MOST];
} * shared;

static struct command commands[COMMAND_MOST];
static size_t command_count;

/* ---- One command ---- */

struct job {
    const struct command *command;
    struct tally *tally;
    unsigned threads;
    struct bench bench;
    struct reference reference;
    struct server *server;
};

static void log_defect(const struct job *job, const char *fault, const struct run *run,
                       enum verdict verdict)
{
    char message[200], line[1024];
    int file;

    judge_message(&job->bench, message);
    snprintf(line, sizeof line, "%s\t%s\t%u threads\t%s\t%s\texit %d signal %d\t%s\n",
             verdict_names[verdict], job->command->name, job->threads, fault, run->what,
             WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1,
             WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0, message);
    fputs(line, stderr);
    file = options.log ? open(options.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file >= 0) {
        if (write(file, line, strlen(line)) < 0)
            perror(options.log);
        close(file);
    }
}

/* One run.  The first way of failing meets no output file, the second one that is there. */
static bool try_failure(struct job *job, const struct fault *fault)
{
    struct run run;
    enum verdict verdict;
    char name[64];

    folder_reset(&job->bench, job->command, fault->mode == FAULT_ALWAYS);
    server_run(job->server, fault, &run);
    verdict = judge_failure(&job->bench, job->command, &job->reference, fault, &run);
    snprintf(name, sizeof name, "%s:%s:%lu", call_names[fault->call], mode_names[fault->mode],
             fault->n);
    if (!run.fired) {
        /* Undisturbed: anything but success would be a defect of these tests. */
        if (WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0 && verdict != VERDICT_SILENT &&
            verdict != VERDICT_MISSING && verdict != VERDICT_LEFTOVER)
            return false;
        snprintf(run.what, sizeof run.what, "the fault did not fire");
    }
    job->tally->verdicts[fault->call][verdict]++;
    if (verdict >= VERDICT_SILENT)
        log_defect(job, name, &run, verdict);
    return run.fired;
}

static unsigned long stride_for(const struct job *job, unsigned long places)
{
    unsigned long most = options.most / job->command->slow;

    return places / (most ? most : 1) + 1;
}

static void try_failures(struct job *job, enum call call, unsigned long places)
{
    for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_ALWAYS; mode++) {
        struct fault fault = {.call = call, .mode = mode, .n = 1};

        while (try_failure(job, &fault))
            fault.n += stride_for(job, places);
    }
}

static void note_names(struct kill_counts *counts, const char *names)
{
    size_t used = strlen(counts->names);

    if (*names && !strstr(counts->names, names))
        snprintf(counts->names + used, sizeof counts->names - used, "%s%s", used ? " " : "", names);
}

/* A kill, and the command again. */
static bool try_kill(struct job *job, size_t which, unsigned long n)
{
    const struct fault none = {0}, fault = {.n = n, .signal = kill_signals[which]};
    struct kill_counts *counts = &job->tally->kills[which];
    struct kill_remains remains;
    enum verdict verdict, again;
    struct run run, second;
    char name[64];

    snprintf(name, sizeof name, "kill:%s:%lu", kill_names[which], n);
    folder_reset(&job->bench, job->command, fault.signal == SIGTERM);
    server_run(job->server, &fault, &run);
    if (!run.fired)
        return false;
    verdict = judge_kill(&job->bench, job->command, &job->reference, &fault, &run, &remains);
    counts->points++;
    counts->complete += remains.complete;
    counts->left += remains.left;
    note_names(counts, remains.names);
    if (verdict != VERDICT_CLEAN) {
        counts->defects++;
        log_defect(job, name, &run, verdict);
    }
    server_run(job->server, &none, &second);
    again = judge_again(&job->bench, job->command, &job->reference, &second, &remains);
    if (again == VERDICT_CLEAN) {
        counts->resumed++;
    } else {
        counts->defects++;
        snprintf(second.what, sizeof second.what, "run again after %.200s", run.what);
        log_defect(job, name, &second, again);
    }
    return true;
}

/* The number of calls of an undisturbed run; its output becomes the reference if there is none. */
static bool run_undisturbed(struct job *job, struct run *run)
{
    const struct fault none = {0};

    folder_reset(&job->bench, job->command, false);
    server_run(job->server, &none, run);
    if (run->hung || !WIFEXITED(run->status) || WEXITSTATUS(run->status) != 0) {
        char message[200];

        judge_message(&job->bench, message);
        fprintf(stderr, "faults: %s does not run: wait status %d: %s\n", job->command->name,
                run->status, message);
        return false;
    }
    if (!job->reference.outputs[0])
        reference_take(&job->bench, job->command, &job->reference);
    return true;
}

static void open_bench(struct job *job)
{
    char *folder;

    if (asprintf(&folder, "%s/%d", options.work, (int)getpid()) < 0 ||
        (mkdir(folder, 0777) && errno != EEXIST)) {
        perror(options.work);
        exit(2);
    }
    job->bench = (struct bench){.work = folder,
                                .inputs = options.inputs,
                                .programs = options.programs,
                                .library = options.library,
                                .patience = 120,
                                .output = memfd_create("output", MFD_CLOEXEC),
                                .error = memfd_create("error", MFD_CLOEXEC)};
    fcntl(job->bench.output, F_SETFL, O_APPEND);
    fcntl(job->bench.error, F_SETFL, O_APPEND);
}

/* Allocations fail in a program whose system calls go on without a stop, which is faster. */
static bool test_command(struct job *job)
{
    struct run run;
    bool runs;

    job->server = server_start(&job->bench, job->command, job->threads, false);
    runs = run_undisturbed(job, &run);
    if (runs)
        try_failures(job, CALL_ALLOCATE, run.counts[CALL_ALLOCATE]);
    server_stop(job->server);
    if (!runs)
        return false;

    job->server = server_start(&job->bench, job->command, job->threads, true);
    runs = run_undisturbed(job, &run);
    for (enum call call = CALL_ALLOCATE + 1; runs && call < CALLS; call++)
        try_failures(job, call, run.counts[call]);
    for (size_t i = 0; runs && i < KILLS; i++)
        for (unsigned long n = 1; try_kill(job, i, n); n += stride_for(job, run.points))
            ;
    server_stop(job->server);
    return runs;
}

/* Takes commands until none is left. */
static void work(void)
{
    struct job job = {0};

    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    open_bench(&job);
    for (;;) {
        unsigned long next = atomic_fetch_add(&shared->next, 1);
        size_t which = next / options.thread_counts, threads = next % options.thread_counts;

        if (which >= command_count)
            break;
        job.command = &commands[which];
        job.tally = &shared->tallies[which];
        job.threads = options.threads[threads];
        if (!test_command(&job))
            continue;
        job.tally->hashes[threads] = reference_hash(job.command, &job.reference);
        job.tally->done[threads] = true;
        reference_free(&job.reference);
        printf("%s, %u thread%s\n", job.command->name, job.threads, job.threads == 1 ? "" : "s");
        fflush(stdout);
    }
    folder_reset(&job.bench, NULL, false);
    rmdir(job.bench.work);
}

/* ---- One run, to look into a defect ---- */

static enum call find_call(const char *name)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(call_names[i], name) == 0)
            return (enum call)i;
    fprintf(stderr, "faults: no call is named %s\n", name);
    exit(2);
}

static struct fault parse_fault(const char *text)
{
    char first[16], second[16];
    struct fault fault = {0};

    if (sscanf(text, "%15[^:]:%15[^:]:%lu", first, second, &fault.n) != 3) {
        fprintf(stderr, "faults: --at is CALL:once:N, CALL:always:N, kill:KILL:N or kill:TERM:N\n");
        exit(2);
    }
    if (strcmp(first, "kill") == 0) {
        fault.signal = strcmp(second, "TERM") == 0 ? SIGTERM : SIGKILL;
    } else {
        fault.call = find_call(first);
        fault.mode = strcmp(second, "always") == 0 ? FAULT_ALWAYS : FAULT_ONCE;
    }
    return fault;
}

static void print_file(int file)
{
    char bytes[4096];
    ssize_t size;
    off_t at = 0;

    while ((size = pread(file, bytes, sizeof bytes, at)) > 0) {
        fwrite(bytes, 1, (size_t)size, stdout);
        at += size;
    }
}

static int show_one(void)
{
    struct job job = {.command = &commands[0], .threads = options.threads[0]};
    const struct fault fault = parse_fault(options.at);
    struct kill_remains remains;
    enum verdict verdict;
    struct run run;

    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    open_bench(&job);
    job.server = server_start(&job.bench, job.command, job.threads,
                              fault.signal || fault.call != CALL_ALLOCATE);
    if (!run_undisturbed(&job, &run))
        return 2;
    folder_reset(&job.bench, job.command, fault.mode == FAULT_ALWAYS || fault.signal == SIGTERM);
    server_run(job.server, &fault, &run);
    verdict = fault.signal
                  ? judge_kill(&job.bench, job.command, &job.reference, &fault, &run, &remains)
                  : judge_failure(&job.bench, job.command, &job.reference, &fault, &run);
    printf("%s: %s, object %d, wait status %d, orphans %lu\nstandard error:\n",
           verdict_names[verdict], run.what, (int)run.object, run.status, run.orphans);
    print_file(job.bench.error);
    printf("folder: %s\n", job.bench.work);
    server_stop(job.server);
    return 0;
}

/* ---- Tables ---- */

static unsigned long print_verdicts(const char *name, const unsigned long verdicts[VERDICTS])
{
    unsigned long all = 0, defects = 0;

    for (size_t v = 0; v < VERDICTS; v++) {
        all += verdicts[v];
        defects += v >= VERDICT_SILENT ? verdicts[v] : 0;
    }
    printf("%-26s %8lu", name, all);
    for (size_t v = 0; v < VERDICTS; v++)
        printf(" %8lu", verdicts[v]);
    putchar('\n');
    return defects;
}

static void print_head(const char *title)
{
    printf("\n%-26s %8s", title, "failures");
    for (size_t v = 0; v < VERDICTS; v++)
        printf(" %8s", verdict_names[v]);
    putchar('\n');
}

static unsigned long print_failures(void)
{
    unsigned long all[VERDICTS] = {0}, defects;

    print_head("command");
    for (size_t i = 0; i < command_count; i++) {
        unsigned long sum[VERDICTS] = {0};

        for (size_t call = 0; call < CALLS; call++)
            for (size_t v = 0; v < VERDICTS; v++)
                sum[v] += shared->tallies[i].verdicts[call][v];
        for (size_t v = 0; v < VERDICTS; v++)
            all[v] += sum[v];
        print_verdicts(commands[i].name, sum);
    }
    defects = print_verdicts("all", all);
    print_head("call that fails");
    for (size_t call = 0; call < CALLS; call++) {
        unsigned long sum[VERDICTS] = {0};

        for (size_t i = 0; i < command_count; i++)
            for (size_t v = 0; v < VERDICTS; v++)
                sum[v] += shared->tallies[i].verdicts[call][v];
        print_verdicts(call_names[call], sum);
    }
    return defects;
}

static unsigned long print_kills(void)
{
    unsigned long defects = 0;

    printf("\n%-26s %6s %8s %8s %8s %8s %8s\n", "killed at every call", "signal", "points",
           "complete", "resumed", "left", "DEFECTS");
    for (size_t k = 0; k < KILLS; k++) {
        struct kill_counts all = {0};

        for (size_t i = 0; i < command_count; i++) {
            const struct kill_counts *counts = &shared->tallies[i].kills[k];

            printf("%-26s %6s %8lu %8lu %8lu %8lu %8lu  %s\n", commands[i].name, kill_names[k],
                   counts->points, counts->complete, counts->resumed, counts->left, counts->defects,
                   counts->names);
            all.points += counts->points;
            all.complete += counts->complete;
            all.resumed += counts->resumed;
            all.left += counts->left;
            all.defects += counts->defects;
        }
        printf("%-26s %6s %8lu %8lu %8lu %8lu %8lu\n", "all", kill_names[k], all.points,
               all.complete, all.resumed, all.left, all.defects);
        defects += all.defects;
    }
    return defects;
}

/* Commands that nobody finished, and those whose bytes depend on the threads. */
static unsigned long check_all_done(void)
{
    unsigned long defects = 0;

    for (size_t i = 0; i < command_count; i++)
        for (size_t k = 0; k < options.thread_counts; k++) {
            const struct tally *tally = &shared->tallies[i];

            if (!tally->done[k])
                printf("%s, %u threads: NOT FINISHED\n", commands[i].name, options.threads[k]);
            else if (tally->hashes[k] != tally->hashes[0])
                printf("%s: OTHER BYTES with %u threads than with %u\n", commands[i].name,
                       options.threads[k], options.threads[0]);
            else
                continue;
            defects++;
        }
    return defects;
}

/* ---- Main ---- */

static void parse_threads(const char *text)
{
    options.thread_counts = 0;
    while (*text && options.thread_counts < MOST_THREAD_COUNTS) {
        options.threads[options.thread_counts++] = (unsigned)strtoul(text, (char **)&text, 10);
        text += *text == ',';
    }
}

static void parse_options(int argc, char **argv)
{
    static const struct {
        const char *name;
        const char **text;
        unsigned long *number;
    } texts[] = {{"--work", &options.work, NULL},
                 {"--only", &options.only, NULL},
                 {"--at", &options.at, NULL},
                 {"--log", &options.log, NULL}};
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        bool known = false;

        if (strcmp(argv[i], "--first") == 0) {
            options.first = true;
            continue;
        }
        if (i + 1 == argc)
            break;
        if (strcmp(argv[i], "--most") == 0)
            known = (options.most = strtoul(argv[i + 1], NULL, 10)) > 0;
        else if (strcmp(argv[i], "--jobs") == 0)
            known = (options.jobs = (unsigned)strtoul(argv[i + 1], NULL, 10)) > 0;
        else if (strcmp(argv[i], "--threads") == 0)
            known = (parse_threads(argv[i + 1]), options.thread_counts > 0);
        for (size_t k = 0; !known && k < sizeof texts / sizeof *texts; k++)
            if (strcmp(argv[i], texts[k].name) == 0) {
                *texts[k].text = argv[i + 1];
                known = true;
            }
        if (!known)
            break;
        i++;
    }
    if (argc - i != 5) {
        fprintf(stderr, "usage: driver [OPTION]... PROGRAMS LIBRARY TESTS INPUTS COMMANDS\n");
        exit(2);
    }
    options.programs = argv[i];
    options.library = argv[i + 1];
    options.tests = argv[i + 2];
    options.inputs = argv[i + 3];
    command_count = commands_read(argv[i + 4], options.inputs, options.tests, commands);
}

static bool is_wanted(size_t i)
{
    if (options.only)
        return strcmp(commands[i].name, options.only) == 0;
    for (size_t k = 0; options.first && k < i; k++)
        if (strcmp(commands[k].words[0], commands[i].words[0]) == 0)
            return false;
    return true;
}

static void choose_commands(void)
{
    struct command chosen[COMMAND_MOST];
    size_t count = 0;

    for (size_t i = 0; i < command_count; i++)
        if (is_wanted(i))
            chosen[count++] = commands[i];
    memcpy(commands, chosen, count * sizeof *chosen);
    command_count = count;
    if (!count) {
        fprintf(stderr, "faults: no such command\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    unsigned long defects;

    parse_options(argc, argv);
    choose_commands();
    if (!server_can_watch()) {
        fprintf(stderr, "faults: this kernel cannot stop system calls for another process "
                        "(seccomp user notification, Linux 5.19)\n");
        return 77;
    }
    if (options.at)
        return show_one();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    for (unsigned i = 0; i < options.jobs; i++)
        if (fork() == 0) {
            work();
            fflush(stdout);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    defects = print_failures();
    defects += print_kills();
    defects += check_all_done();
    printf("\n%lu defects\n", defects);
    return defects != 0;
}
