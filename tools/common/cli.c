#include "common/cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "common/claims.h"
#include "common/cli_internal.h"
#include "common/help.h"
#include "common/process.h"
#include "common/progress.h"

struct cli_state cli_state;

static const struct cli_option common_options[] = {
    {'o', "output", "FILE", CLI_OUTPUT, CLI_AT(cli_common, output),
     "write to FILE instead of standard output"},
    {0, "seed", "N", CLI_SEED, CLI_AT(cli_common, seed), "seed of all random choices"},
    {0, "threads", "N", CLI_SIZE, CLI_AT(cli_common, threads),
     "threads to use, 0 for one per core; never changes the result", .high = 256,
     .unrecorded = true},
    {'q', "quiet", NULL, CLI_FLAG, CLI_AT(cli_common, quiet), "no progress bar, no remarks",
     .unrecorded = true},
    {0},
};

/* ---- Messages ---- */

/* No text from a file, such as a class name, can send control characters to the terminal. */
static void print_line(const char *text)
{
    progress_end();
    fprintf(stderr, "%s: ", cli_state.program->name);
    text_escape(stderr, text);
    fputc('\n', stderr);
}

/* The one place that messages go through. */
static void message(const char *format, va_list arguments)
{
    char fallback[512], *text;
    va_list again;

    if (cli_state.rank.number > 0)
        return;
    va_copy(again, arguments);
    if (vasprintf(&text, format, arguments) < 0) {
        vsnprintf(fallback, sizeof fallback, format, again);
        text = fallback;
    }
    va_end(again);
    print_line(text);
    if (text != fallback)
        free(text);
}

void cli_usage(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    message(format, arguments);
    va_end(arguments);
    if (cli_state.rank.number == 0)
        fprintf(stderr, "Try '%s --help'.\n", cli_state.program->name);
    exit(2);
}

void cli_say(const char *format, ...)
{
    va_list arguments;

    if (cli_state.quiet)
        return;
    va_start(arguments, format);
    message(format, arguments);
    va_end(arguments);
}

void cli_warn(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    message(format, arguments);
    va_end(arguments);
}

void cli_check(struct error *error)
{
    const char *leftover;

    if (!error)
        return;
    for (const struct error *each = error; each; each = error_next(each)) {
        if (cli_state.rank.fail)
            cli_warn("rank %zu on %s: %s", cli_state.rank.number, cli_state.rank.host,
                     error_message(each));
        else
            cli_warn("%s", error_message(each));
    }
    output_abort_all_from_signal();
    for (size_t i = 0; (leftover = output_leftover(i)); i++)
        cli_warn("%s: this temporary file could not be removed", leftover);
    if (cli_state.rank.fail)
        cli_state.rank.fail(error_message(error));
    error_free(error);
    exit(1);
}

void cli_join(size_t number, const char *host, void (*fail)(const char *message_of_error))
{
    cli_state.rank.number = number;
    cli_state.rank.host = host;
    cli_state.rank.fail = fail;
    if (number > 0)
        cli_state.quiet = true;
}

void cli_say_of_cluster(const char *text)
{
    print_line(text);
}

void cli_check_usage(const char *option, struct error *error)
{
    char text[512];

    if (!error)
        return;
    if (error_is_memory(error))
        cli_check(error);
    snprintf(text, sizeof text, "%s", error_message(error));
    error_free(error);
    cli_usage("--%s: %s", option, text);
}

/* ---- Help ---- */

_Noreturn static void end_of_help(void)
{
    if (fflush(stdout))
        cli_check(error_system("standard output"));
    exit(0);
}

_Noreturn static void print_help(const void *options)
{
    help_print(cli_state.program, common_options, options, help_width(STDOUT_FILENO));
    end_of_help();
}

/* A program without arguments that would read from a terminal prints a hint instead. */
static void check_waiting(int argc)
{
    if (argc > 1 || cli_state.program->words || cli_state.program->most_files == 0 ||
        !isatty(STDIN_FILENO))
        return;
    fprintf(stderr,
            "Usage: %s [OPTION]... %s\n%s\nStandard input is a terminal: name a file, or use a "
            "pipe.\nTry '%s --help'.\n",
            cli_state.program->name, cli_state.program->arguments, cli_state.program->summary,
            cli_state.program->name);
    exit(2);
}

/* ---- Values ---- */

static void parse_size(const struct cli_option *option, const char *text, size_t *value)
{
    unsigned long long number;
    char *end;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || number > SIZE_MAX)
        cli_usage("--%s: '%s' is not a whole number", option->name, text);
    if ((double)number < option->low)
        cli_usage("--%s: %s is too small (at least %.0f)", option->name, text, option->low);
    if (option->high > 0 && (double)number > option->high)
        cli_usage("--%s: %s is too large (at most %.0f)", option->name, text, option->high);
    *value = (size_t)number;
}

static void parse_seed(const struct cli_option *option, const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno)
        cli_usage("--%s: '%s' is not a whole number", option->name, text);
}

static void parse_real(const struct cli_option *option, const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value))
        cli_usage("--%s: '%s' is not a number", option->name, text);
    if ((option->low != 0 || option->high != 0) && (*value < option->low || *value > option->high))
        cli_usage("--%s: %s is out of range (%g to %g)", option->name, text, option->low,
                  option->high);
}

static void parse_choice(const struct cli_option *option, const char *text, int *value)
{
    char known[256] = "";

    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(text, option->choices[i]) == 0) {
            *value = i;
            return;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 option->choices[i]);
    }
    cli_usage("--%s: '%s' is not one of: %s", option->name, text, known);
}

static void add_text(struct cli_texts *texts, const char *text)
{
    const char **items = realloc(texts->items, (texts->count + 1) * sizeof *items);

    if (!items)
        cli_check(error_memory("options"));
    texts->items = items;
    texts->items[texts->count++] = text;
}

static void record(const struct cli_option *option, const char *text)
{
    char *longer;

    if (option->unrecorded || option->type == CLI_FILE || option->type == CLI_OUTPUT ||
        option->type == CLI_FOLDER || option->type == CLI_SEED)
        return;
    if (asprintf(&longer, "%s --%s%s%s", cli_state.recorded ? cli_state.recorded : "", option->name,
                 text ? "=" : "", text ? text : "") < 0)
        cli_check(error_memory("options"));
    free(cli_state.recorded);
    cli_state.recorded = longer;
}

static void set_option(const struct cli_option *option, const char *text, void *options)
{
    void *member = (char *)options + option->offset;

    switch (option->type) {
    case CLI_FLAG:
        *(bool *)member = true;
        break;
    case CLI_SIZE:
        parse_size(option, text, member);
        break;
    case CLI_SEED:
        parse_seed(option, text, member);
        break;
    case CLI_REAL:
        parse_real(option, text, member);
        break;
    case CLI_TEXT:
    case CLI_FILE:
    case CLI_OUTPUT:
    case CLI_FOLDER:
        *(const char **)member = text;
        break;
    case CLI_CHOICE:
        parse_choice(option, text, member);
        break;
    case CLI_TEXTS:
        add_text(member, text);
        break;
    }
    record(option, text);
}

/* ---- The command line ---- */

static const struct cli_option *find_in(const struct cli_option *option, char letter,
                                        const char *name, size_t length)
{
    for (; option->name; option++) {
        if (name ? strlen(option->name) == length && strncmp(option->name, name, length) == 0
                 : option->letter && option->letter == letter)
            return option;
    }
    return NULL;
}

static const struct cli_option *find_option(char letter, const char *name, size_t length)
{
    const struct cli_option *option = find_in(cli_state.program->options, letter, name, length);

    return option ? option : find_in(common_options, letter, name, length);
}

_Noreturn static void unknown_option(const char *name, size_t length)
{
    const char *like = help_suggest(cli_state.program, common_options, name, length);

    if (like)
        cli_usage("unknown option '--%.*s'; did you mean --%s?", (int)length, name, like);
    cli_usage("unknown option '--%.*s'", (int)length, name);
}

/* "--name", "--name=value" or "--name value".  Returns how many arguments it took. */
static int parse_long(char **argv, void *options)
{
    const char *name = argv[0] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct cli_option *option;

    if (strcmp(name, "help") == 0)
        print_help(options);
    if (strcmp(name, "version") == 0) {
        printf("%s (shapecond) %s\n", cli_state.program->name, SHAPECOND_VERSION);
        end_of_help();
    }
    if (strncmp(name, "complete=", 9) == 0 &&
        help_complete(cli_state.program, common_options, name + 9))
        end_of_help();
    option = find_option(0, name, length);
    if (!option)
        unknown_option(name, length);
    if (!option->argument) {
        if (equals)
            cli_usage("--%s takes no value", option->name);
        set_option(option, NULL, options);
        return 1;
    }
    if (!equals && !argv[1])
        cli_usage("--%s needs a value: --%s=%s", option->name, option->name, option->argument);
    set_option(option, equals ? equals + 1 : argv[1], options);
    return equals ? 1 : 2;
}

/* "-qo FILE", "-oFILE".  Returns how many arguments it took. */
static int parse_letters(char **argv, void *options)
{
    for (const char *letter = argv[0] + 1; *letter; letter++) {
        const struct cli_option *option = find_option(*letter, NULL, 0);

        if (!option)
            cli_usage("unknown option '-%c'", *letter);
        if (!option->argument) {
            set_option(option, NULL, options);
            continue;
        }
        if (!letter[1] && !argv[1])
            cli_usage("-%c needs a value: -%c %s", *letter, *letter, option->argument);
        set_option(option, letter[1] ? letter + 1 : argv[1], options);
        return letter[1] ? 1 : 2;
    }
    return 1;
}

/* Claims the files that the option names, if it was given. */
static void claim_option(const struct cli_option *option, const void *options)
{
    const void *member = (const char *)options + option->offset;
    bool written = option->type == CLI_OUTPUT;

    if (option->type == CLI_TEXTS && option->reads) {
        const struct cli_texts *texts = member;

        for (size_t i = 0; i < texts->count; i++)
            claims_add(option->name, texts->items[i], false);
    }
    if ((written || option->type == CLI_FILE || (option->type == CLI_TEXT && option->reads)) &&
        *(const char *const *)member)
        claims_add(option->name, *(const char *const *)member, written);
}

static void claim_files(const struct cli_common *common, const void *options)
{
    for (size_t i = 0; !cli_state.program->words && i < common->file_count; i++)
        claims_add(NULL, common->files[i], false);
    if (!cli_state.program->words && common->file_count == cli_state.program->least_files &&
        common->file_count < cli_state.program->most_files)
        claims_add(NULL, "-", false);
    for (const struct cli_option *option = cli_state.program->options; option->name; option++)
        claim_option(option, options);
    if (!cli_state.program->prefix)
        claims_add("output", common->output, true);
}

/* SHAPECOND_THREADS: the default of --threads, for scripts that run several programs. */
static void threads_of_environment(struct cli_common *common)
{
    static const struct cli_option option = {.name = "threads (SHAPECOND_THREADS)", .high = 256};
    const char *text = getenv("SHAPECOND_THREADS");

    if (text && *text)
        parse_size(&option, text, &common->threads);
}

/* Several copies of a program that knows nothing of ranks would all write the same files. */
static void check_alone(void)
{
    const char *given = getenv("SHAPECOND_CLUSTER");

    if (cluster_launched() > 1 &&
        !find_in(cli_state.program->options, 0, "cluster", strlen("cluster")) &&
        !(given && strcmp(given, "none") == 0))
        cli_check(error_make("was started as %zu processes, but runs as one: start it "
                             "once (shapecond-cluster(7))",
                             cluster_launched()));
}

void cli_parse(int argc, char **argv, const struct cli_program *program, void *options)
{
    struct cli_common *common = options;
    bool only_files = false;

    process_open_streams();
    cli_state.program = program;
    common->output = "-";
    threads_of_environment(common);
    check_waiting(argc);
    /* The arguments that are no options move to the front, over those that were read already. */
    common->files = (const char **)argv;
    for (int i = 1; i < argc;) {
        const char *argument = argv[i];

        if (only_files || argument[0] != '-' || argument[1] == '\0') {
            common->files[common->file_count++] = argument;
            i++;
        } else if (strcmp(argument, "--") == 0) {
            only_files = true;
            i++;
        } else {
            i += argument[1] == '-' ? parse_long(argv + i, options)
                                    : parse_letters(argv + i, options);
        }
    }
    if (common->file_count > program->most_files)
        cli_usage("one argument too many: '%s'", common->files[program->most_files]);
    if (common->output[0] == '\0')
        cli_usage("--output needs a file name");
    check_alone();
    claim_files(common, options);
    cli_state.quiet = common->quiet;
    parallel_set_threads((unsigned)common->threads);
    process_catch_signals(program->name);
}

const char *cli_input(const struct cli_common *common)
{
    return common->file_count ? common->files[0] : "-";
}
