#include "common/help.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, LEAST_WIDTH = 40, TEXT_COLUMN = 29, LONGEST_NAME = 63 };

size_t help_width(int descriptor)
{
    struct winsize size;

    if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return DEFAULT_WIDTH;
}

/* ---- --help ---- */

/* Writes the words of the text up to the width, further lines indented. */
static void print_wrapped(const char *text, size_t column, size_t indent, size_t width)
{
    bool start = true;

    while (*text) {
        size_t length = strcspn(text, " "),
               break_at = width > indent + 20 ? width - 1 : indent + 60;

        if (!start && column + 1 + length > break_at) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            start = true;
        }
        printf("%s%.*s", start ? "" : " ", (int)length, text);
        column += length + !start;
        start = false;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* The value that a member holds now, its default, as " [5]"; empty if it depends on other options.
 */
static void default_text(const struct cli_option *option, const void *options, char *text,
                         size_t size)
{
    const void *member = (const char *)options + option->offset;

    text[0] = '\0';
    switch (option->type) {
    case CLI_SIZE:
        if (*(const size_t *)member != SIZE_MAX)
            snprintf(text, size, " [%zu]", *(const size_t *)member);
        break;
    case CLI_SEED:
        snprintf(text, size, " [%llu]", (unsigned long long)*(const uint64_t *)member);
        break;
    case CLI_REAL:
        if (!isnan(*(const double *)member))
            snprintf(text, size, " [%g]", *(const double *)member);
        break;
    case CLI_CHOICE:
        if (*(const int *)member >= 0)
            snprintf(text, size, " [%s]", option->choices[*(const int *)member]);
        break;
    case CLI_TEXT:
        if (*(const char *const *)member)
            snprintf(text, size, " [%s]", *(const char *const *)member);
        break;
    default:
        break;
    }
}

static void print_option(const struct cli_option *option, const void *options, size_t width)
{
    char left[64], text[1024], value[256];
    size_t used, column;

    snprintf(left, sizeof left, "%c%c%c --%s%s%s", option->letter ? '-' : ' ',
             option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
             option->argument ? "=" : "", option->argument ? option->argument : "");
    used = (size_t)snprintf(text, sizeof text, "%s", option->help);
    if (option->type == CLI_CHOICE) {
        for (size_t i = 0; option->choices[i] && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s", i ? "," : ":",
                                     option->choices[i]);
    }
    default_text(option, options, value, sizeof value);
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, "%s", value);
    column = (size_t)printf("  %-*s ", TEXT_COLUMN - 3, left);
    print_wrapped(text, column, TEXT_COLUMN, width);
}

void help_print(const struct cli_program *program, const struct cli_option *common,
                const void *options, size_t width)
{
    width = width < LEAST_WIDTH ? LEAST_WIDTH : width;
    printf("Usage: %s [OPTION]... %s\n", program->name, program->arguments);
    print_wrapped(program->summary, 0, 0, width);
    putchar('\n');
    for (const struct cli_option *option = program->options; option->name; option++)
        print_option(option, options, width);
    for (const struct cli_option *option = common; option->name; option++)
        print_option(option, options, width);
    printf("      --help                 show this and exit\n"
           "      --version              show the version and exit\n");
    if (program->notes)
        printf("\n%s\n", program->notes);
    if (program->example)
        printf("\nExample: %s\n", program->example);
    printf("\nMore: man %s\n", program->name);
}

/* ---- Suggestions ---- */

/* How many letters must be added, left out, changed or swapped to make one word of the other. */
static size_t word_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST_NAME + 2];

    if (a_length > LONGEST_NAME || b_length > LONGEST_NAME)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t least = above[j - 1] + (a[i - 1] != b[j - 1]);

            least = above[j] + 1 < least ? above[j] + 1 : least;
            least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            row[j] = least;
        }
    }
    return rows[a_length % 3][b_length];
}

static void find_nearest(const struct cli_option *option, const char *name, size_t length,
                         size_t *least, const char **nearest)
{
    for (; option->name; option++) {
        size_t known = strlen(option->name), distance;
        bool start = length >= 2 && known > length && strncmp(option->name, name, length) == 0;

        distance = start ? 1 : word_distance(name, length, option->name, known);
        if (distance < *least) {
            *least = distance;
            *nearest = option->name;
        }
    }
}

const char *help_suggest(const struct cli_program *program, const struct cli_option *common,
                         const char *name, size_t length)
{
    static const struct cli_option always[] = {{.name = "help"}, {.name = "version"}, {0}};
    size_t least = length / 3 + 1 < 3 ? length / 3 + 2 : 4; /* one more than may be wrong */
    const char *nearest = NULL;

    find_nearest(program->options, name, length, &least, &nearest);
    find_nearest(common, name, length, &least, &nearest);
    find_nearest(always, name, length, &least, &nearest);
    return nearest;
}

/* ---- Completion ---- */

static bool takes_file(const struct cli_option *option)
{
    return option->argument && option->type != CLI_CHOICE && option->type != CLI_FLAG &&
           option->type != CLI_SIZE && option->type != CLI_SEED && option->type != CLI_REAL;
}

/* A help text in single quotes, without what zsh gives a meaning to. */
static void print_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (!strchr("[]:\\", *text))
            putchar(*text);
    }
}

static void print_choices(const struct cli_option *option)
{
    for (size_t i = 0; option->choices[i]; i++)
        printf("%s%s", i ? " " : "", option->choices[i]);
}

/* Calls print for all options of the program, and for --help and --version. */
static void for_all(const struct cli_program *program, const struct cli_option *common,
                    void (*print)(const struct cli_program *program,
                                  const struct cli_option *option))
{
    static const struct cli_option always[] = {
        {.name = "help", .help = "show this and exit", .type = CLI_FLAG},
        {.name = "version", .help = "show the version and exit", .type = CLI_FLAG},
        {0},
    };
    const struct cli_option *tables[] = {program->options, common, always};

    for (size_t i = 0; i < 3; i++) {
        for (const struct cli_option *option = tables[i]; option->name; option++)
            print(program, option);
    }
}

static void print_bash_word(const struct cli_program *program, const struct cli_option *option)
{
    (void)program;
    printf(" --%s%s", option->name, option->argument ? "=" : "");
}

static void print_bash_choice(const struct cli_program *program, const struct cli_option *option)
{
    (void)program;
    if (option->type != CLI_CHOICE)
        return;
    printf("    --%s", option->name);
    if (option->letter)
        printf(" | -%c", option->letter);
    printf(") mapfile -t COMPREPLY < <(compgen -W '");
    print_choices(option);
    printf("' -- \"$word\"); return ;;\n");
}

static void complete_bash(const struct cli_program *program, const struct cli_option *common)
{
    printf("# %s(1), made by %s --complete=bash\n", program->name, program->name);
    printf("_%s() {\n", program->name);
    printf("    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    # The shell cuts --name=value in three.\n"
           "    if [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    elif [[ $word == '=' ]]; then word=\n"
           "    fi\n"
           "    case $before in\n");
    for_all(program, common, print_bash_choice);
    printf("    esac\n"
           "    if [[ $word == -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    for_all(program, common, print_bash_word);
    printf("' -- \"$word\")\n"
           "        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
           "    else\n"
           "        compopt -o filenames\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
           "    fi\n"
           "}\n"
           "complete -F _%s %s\n",
           program->name, program->name);
}

static void print_zsh_option(const struct cli_program *program, const struct cli_option *option)
{
    (void)program;
    printf("    '");
    if (option->letter)
        printf("(-%c --%s)'{-%c,--%s%s}'", option->letter, option->name, option->letter,
               option->name, option->argument ? "=" : "");
    else
        printf("--%s%s", option->name, option->argument ? "=" : "");
    putchar('[');
    print_quoted(option->help);
    putchar(']');
    if (option->argument)
        printf(":%s:", option->argument);
    if (option->type == CLI_CHOICE) {
        putchar('(');
        print_choices(option);
        putchar(')');
    } else if (takes_file(option)) {
        printf("_files");
    }
    printf("' \\\n");
}

static void complete_zsh(const struct cli_program *program, const struct cli_option *common)
{
    printf("#compdef %s\n# %s(1), made by %s --complete=zsh\n_arguments -s \\\n", program->name,
           program->name, program->name);
    for_all(program, common, print_zsh_option);
    printf("    '*:file:_files'\n");
}

static void print_fish_option(const struct cli_program *program, const struct cli_option *option)
{
    printf("complete -c %s", program->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    printf(" -l %s", option->name);
    if (option->type == CLI_CHOICE) {
        printf(" -x -a '");
        print_choices(option);
        putchar('\'');
    } else if (option->argument) {
        printf("%s", takes_file(option) ? " -r -F" : " -x");
    }
    printf(" -d '");
    for (const char *text = option->help; *text; text++)
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("'\n");
}

static void complete_fish(const struct cli_program *program, const struct cli_option *common)
{
    printf("# %s(1), made by %s --complete=fish\n", program->name, program->name);
    for_all(program, common, print_fish_option);
}

bool help_complete(const struct cli_program *program, const struct cli_option *common,
                   const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(const struct cli_program *program, const struct cli_option *common);
    } shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(program, common);
            return true;
        }
    }
    return false;
}
