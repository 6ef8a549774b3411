/* Recipes as words: "shift=0.25 warp=0.2 mix=0.5". */
#include <stdlib.h>
#include <string.h>

#include "views/view.h"

static const struct word {
    const char *name;
    size_t offset;
    double high;
} words[] = {
    {"shift", offsetof(struct view_recipe, shift), 0.5},
    {"crop", offsetof(struct view_recipe, crop), 0.9},
    {"warp", offsetof(struct view_recipe, warp), 0.5},
    {"gain", offsetof(struct view_recipe, gain), 1},
    {"mix", offsetof(struct view_recipe, mix), 1},
    {"cut", offsetof(struct view_recipe, cut), 1},
};
enum { WORDS = sizeof words / sizeof *words };

/* clang-format off */
const struct view_preset view_presets[VIEW_PRESETS] = {
    {"gentle",   {.shift = 0.02, .crop = 0.05, .warp = 0.1, .gain = 0.2, .mix = 0.5, .cut = 0.5}},
    {"moderate", {.shift = 0.25, .crop = 0,    .warp = 0.2, .gain = 0.3, .mix = 0.5, .cut = 0.5}},
    {"strong",   {.shift = 0.5,  .crop = 0.5,  .warp = 0.5, .gain = 0.8, .mix = 0.5, .cut = 0.5}},
};
/* clang-format on */

struct view_recipe view_recipe_default(void)
{
    return view_presets[0].recipe;
}

/* Sets all by the name of a recipe; false if there is none of that name. */
static bool parse_preset(const char *text, size_t length, struct view_recipe *recipe)
{
    for (size_t i = 0; i < VIEW_PRESETS; i++)
        if (strlen(view_presets[i].name) == length &&
            memcmp(view_presets[i].name, text, length) == 0) {
            uint64_t seed = recipe->seed;

            *recipe = view_presets[i].recipe;
            recipe->seed = seed;
            return true;
        }
    return false;
}

static struct error *parse_word(const char *text, size_t length, struct view_recipe *recipe)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : 0;
    char *end;

    for (size_t i = 0; equals && i < WORDS; i++) {
        double value;

        if (strlen(words[i].name) != name || memcmp(words[i].name, text, name) != 0)
            continue;
        value = strtod(equals + 1, &end);
        if (end != text + length || end == equals + 1 || !(value >= 0 && value <= words[i].high))
            return error_make("%s must be between 0 and %g, not '%.*s'", words[i].name,
                              words[i].high, (int)(length - name - 1), equals + 1);
        memcpy((char *)recipe + words[i].offset, &value, sizeof value);
        return NULL;
    }
    return error_make("'%.*s' is not a word of a recipe: shift, crop, warp, gain, mix and cut are, "
                      "each with a number (mix=0.5), or gentle, moderate, strong or none",
                      (int)length, text);
}

struct error *view_recipe_parse(const char *text, struct view_recipe *recipe)
{
    while (*(text += strspn(text, " ,\t\n"))) {
        size_t length = strcspn(text, " ,\t\n");

        if (length == 4 && memcmp(text, "none", 4) == 0)
            *recipe = (struct view_recipe){.seed = recipe->seed};
        else if (!parse_preset(text, length, recipe))
            TRY(parse_word(text, length, recipe));
        text += length;
    }
    return NULL;
}
