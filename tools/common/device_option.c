#include "common/device_option.h"

const char *const device_choices[] = {"cpu", "auto", "cuda", NULL};

struct device device_chosen(int choice, bool same)
{
    struct device device;

    cli_check(error_in("--device", device_open((enum device_kind)choice, &device)));
    if (!same && !device.backend->host_memory)
        cli_record_device(device.backend->name);
    return device;
}
