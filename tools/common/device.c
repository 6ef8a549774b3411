#include "common/device.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "nn/architecture.h"

const char *const device_choices[] = {"cpu", "auto", "cuda", NULL};

static struct device open_chosen(int choice)
{
    struct device device;

    cli_check(error_in("--device", device_open((enum device_kind)choice, &device)));
    return device;
}

static struct device recorded(struct device device)
{
    if (!device.backend->host_memory)
        cli_record_device(device.backend->name);
    return device;
}

struct device device_chosen(int choice, bool same)
{
    struct device device = open_chosen(choice);

    return same ? device : recorded(device);
}

/* The description in the second line of a teacher file; whoever reads all of it says what is wrong
 * with one that has none.  Of a pipe nothing may be taken away. */
static bool read_description(const char *path, char *text, size_t size)
{
    static const char word[] = "network ";
    struct stat status;
    bool found = false;
    FILE *file;

    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    file = fopen(path, "rb");
    if (!file)
        return false;
    for (int line = 0; line < 2 && !found && fgets(text, (int)size, file); line++)
        found = strncmp(text, word, strlen(word)) == 0;
    if (ferror(file))
        cli_check(error_system(path));
    fclose(file);
    if (found)
        memmove(text, text + strlen(word), strlen(text + strlen(word)) + 1);
    return found;
}

struct device device_for_network(int choice, const char *text, const char *path)
{
    struct device device = open_chosen(choice);
    char read[2 * ARCHITECTURE_TEXT];
    struct architecture architecture;

    if (path && choice == DEVICE_AUTO)
        text = read_description(path, read, sizeof read) ? read : NULL;
    if (choice == DEVICE_AUTO && text) {
        struct error *error = architecture_parse(text, &architecture);

        if (!error && !architecture_runs_on(&architecture, device.backend))
            device = device_cpu();
        error_free(error);
    }
    return recorded(device);
}
