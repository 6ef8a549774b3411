/* Figures are read back: points must lie where the numbers at the axes say that they lie. */
#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot/figures.h"
#include "plot/svg.h"

/* ---- Reading a figure, which has one element on each line ---- */

static char *picture;

static FILE *begin_picture(size_t *size)
{
    return open_memstream(&picture, size);
}

static void end_picture(FILE *stream)
{
    fclose(stream);
}

/* The n-th line (from 0) with all three texts; NULL if there are not as many. */
static const char *line_with(const char *one, const char *two, const char *three, size_t n)
{
    for (const char *line = picture; *line; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n");

        if (memmem(line, length, one, strlen(one)) && memmem(line, length, two, strlen(two)) &&
            memmem(line, length, three, strlen(three)) && n-- == 0)
            return line;
    }
    return NULL;
}

static size_t lines_with(const char *one, const char *two)
{
    size_t n = 0;

    while (line_with(one, two, "", n))
        n++;
    return n;
}

static double attribute(const char *line, const char *name)
{
    const char *at = strstr(line, name);

    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

struct box {
    double x, y, width, height;
};

static struct box box_of(const char *line)
{
    assert_non_null(line);
    return (struct box){attribute(line, " x=\""), attribute(line, " y=\""),
                        attribute(line, " width=\""), attribute(line, " height=\"")};
}

/* The frames around series are the only boxes with this colour. */
static struct box panel(size_t n)
{
    return box_of(line_with("<rect", "stroke=\"#cccccc\"", "", n));
}

struct path {
    size_t count;
    double x[1000], y[1000];
    double top; /* least y, with those of ranges */
    size_t begins;
};

static struct path path_of(const char *line)
{
    struct path path = {.top = INFINITY};
    char *at;

    assert_non_null(line);
    at = strstr(line, " d=\"") + 4;
    while (*at != '"') {
        if (*at == 'V') {
            path.top = fmin(path.top, strtod(at + 1, &at));
            continue;
        }
        assert_true(*at == 'M' || *at == 'L');
        assert_in_range(path.count, 0, 999);
        path.begins += *at == 'M';
        path.x[path.count] = strtod(at + 1, &at);
        path.y[path.count] = strtod(at, &at);
        path.top = fmin(path.top, path.y[path.count++]);
    }
    return path;
}

/* What coordinates mean by the numbers at an axis: those with this anchor whose y is in from..to.
 */
struct axis {
    double at, value, per_pixel;
};

static struct axis axis_of(const char *anchor, double from, double to)
{
    bool vertical = strcmp(anchor, "end") == 0;
    double at[2] = {0}, value[2] = {0};
    size_t found = 0;

    for (size_t n = 0;; n++) {
        const char *line = line_with("<text", "font-size=\"11\"", anchor, n);
        double y, x, number;

        if (!line)
            break;
        x = attribute(line, " x=\"");
        y = attribute(line, " y=\"") - 4;
        number = strtod(strchr(line, '>') + 1, NULL);
        if (y < from || y > to)
            continue;
        at[found > 0] = vertical ? y : x;
        value[found++ > 0] = number;
    }
    assert_true(found >= 2);
    return (struct axis){at[0], value[0], (value[1] - value[0]) / (at[1] - at[0])};
}

static double meaning(const struct axis *axis, double at)
{
    return axis->value + (at - axis->at) * axis->per_pixel;
}

static void assert_means(const struct axis *axis, double at, double value)
{
    check_near(meaning(axis, at) - value, 0, 0.7 * fabs(axis->per_pixel), __FILE__, __LINE__);
}

/* ---- What is drawn ---- */

/* Two classes of three series of 21 steps and two channels; values differ everywhere. */
static void make_set(struct dataset *dataset)
{
    assert_ok(dataset_new(6, 2, 21, 2, false, dataset));
    for (size_t i = 0; i < 6; i++) {
        dataset->y[i] = (int32_t)(i % 2);
        for (size_t c = 0; c < 2; c++)
            for (size_t t = 0; t < 21; t++)
                dataset_series(dataset, i, c)[t] =
                    (float)(10 * sin((double)(3 * i + 1) * (double)t / 7) + 20 * (double)c);
    }
}

/* The path is the series, in this panel. */
static void assert_drawn(const char *line, struct box box, const float *values, size_t count,
                         size_t start, size_t steps)
{
    struct axis axis = axis_of("end", box.y, box.y + box.height);
    struct path path = path_of(line);

    assert_int_equal(path.count, count);
    for (size_t t = 0; t < count; t++) {
        double x = box.x + box.width * (double)(start + t) / (double)(steps - 1);

        assert_near(path.x[t] - x, 0, 0.11);
        assert_means(&axis, path.y[t], (double)values[t]);
    }
}

static void series_lie_where_the_axes_say(void **state)
{
    struct figure_options options = figure_defaults();
    struct dataset dataset;
    struct axis steps;
    size_t size;
    FILE *stream;

    (void)state;
    make_set(&dataset);
    options.channel = 1;
    options.columns = 2;
    stream = begin_picture(&size);
    assert_ok(figure_dataset(stream, &dataset, NULL, NULL, &options));
    end_picture(stream);
    assert_int_equal(lines_with("<path", ""), 4);
    assert_int_equal(lines_with("<rect", "#cccccc"), 4);
    /* Class 0 has series 0, 2, 4; class 1 has 1, 3, 5. */
    for (size_t n = 0; n < 4; n++)
        assert_drawn(line_with("<path", "", "", n), panel(n),
                     dataset_series(&dataset, n % 2 * 2 + n / 2, 1), 21, 0, 21);
    assert_true(panel(0).y + panel(0).height < panel(2).y);
    assert_true(panel(0).x + panel(0).width < panel(1).x);
    /* Numbers of steps stand below the last row. */
    steps = axis_of("middle", panel(2).y, INFINITY);
    assert_means(&steps, panel(2).x, 0);
    assert_non_null(line_with("channel 1 of 2", "", "", 0));
    /* Nothing touches the edge. */
    for (size_t n = 0; n < 4; n++)
        for (size_t t = 0; t < 21; t++) {
            double y = path_of(line_with("<path", "", "", n)).y[t];

            assert_true(y > panel(n).y + 1 && y < panel(n).y + panel(n).height - 1);
        }
    free(picture);
    options.channel = 2;
    stream = begin_picture(&size);
    assert_fails("channel 2 of a dataset of 2",
                 figure_dataset(stream, &dataset, NULL, NULL, &options));
    end_picture(stream);
    free(picture);
    dataset_free(&dataset);
}

static void a_dataset_of_one_value_is_drawn_in_the_middle(void **state)
{
    struct figure_options options = figure_defaults();
    struct dataset dataset;
    struct path path;
    size_t size;
    FILE *stream;

    (void)state;
    assert_ok(dataset_new(1, 1, 5, 1, false, &dataset));
    for (size_t t = 0; t < 5; t++)
        dataset.x[t] = 7;
    stream = begin_picture(&size);
    assert_ok(figure_dataset(stream, &dataset, NULL, NULL, &options));
    end_picture(stream);
    path = path_of(line_with("<path", "", "", 0));
    for (size_t t = 0; t < 5; t++)
        assert_near(path.y[t], panel(0).y + panel(0).height / 2, 0.01);
    free(picture);
    dataset_free(&dataset);
}

static void series_behind_are_of_the_class_and_stay_in_the_frame(void **state)
{
    static const char grey[] = "stroke=\"#9aa5b1\"";
    struct figure_options options = figure_defaults();
    struct dataset dataset, real;
    size_t size;
    FILE *stream;

    (void)state;
    make_set(&dataset);
    make_set(&real);
    dataset_series(&real, 1, 0)[3] = 1e6F;
    dataset_series(&real, 1, 0)[4] = -1e6F;
    options.columns = 1;
    options.behind = 2;
    stream = begin_picture(&size);
    assert_ok(figure_dataset(stream, &dataset, &real, NULL, &options));
    end_picture(stream);
    assert_int_equal(lines_with("<path", grey), 4);
    assert_drawn(line_with("<path", grey, "", 0), panel(0), dataset_series(&real, 0, 0), 21, 0, 21);
    assert_drawn(line_with("<path", grey, "", 1), panel(0), dataset_series(&real, 4, 0), 21, 0, 21);
    assert_drawn(line_with("<path", grey, "", 3), panel(1), dataset_series(&real, 5, 0), 21, 0, 21);
    struct path edge = path_of(line_with("<path", grey, "", 2));
    assert_near(edge.y[3], panel(1).y, 0.01);
    assert_near(edge.y[4], panel(1).y + panel(1).height, 0.01);
    free(picture);
    dataset_free(&dataset);
    dataset_free(&real);
}

/* A pool for make_set: shapelet k is cut from a series of its class. */
static void make_pool(const struct dataset *dataset, size_t count, struct shapelet_pool *pool)
{
    assert_ok(slp_new(count, 4 * count, pool));
    pool->channels = 2;
    pool->steps = 21;
    pool->classes = 2;
    for (size_t k = 0; k < count; k++) {
        size_t source = k % 6, start = 6 + 2 * (k % 4);

        for (size_t t = 0; t < 4; t++)
            pool->values[4 * k + t] = dataset_series(dataset, source, 0)[start + t];
        pool->shapelets[k] = (struct shapelet){.values = pool->values + 4 * k,
                                               .start = (uint32_t)start,
                                               .length = 4,
                                               .label = (int32_t)(source % 2),
                                               .window = 2,
                                               .source = source,
                                               .quality = 0.25F * (float)(k + 1)};
    }
}

static void three_shapelets_of_the_class_are_marked_where_they_match_best(void **state)
{
    static const char wide[] = "stroke-width=\"3.00\"";
    struct figure_options options = figure_defaults();
    struct shapelet_pool pool;
    struct dataset dataset;
    size_t size;
    FILE *stream;

    (void)state;
    make_set(&dataset);
    make_pool(&dataset, 12, &pool);
    /* The best of all places, 14, is beyond the window of 8 +- 2, where that at 10 is the best. */
    for (size_t t = 0; t < 21; t++)
        dataset_series(&dataset, 0, 0)[t] = (float)(t % 2 ? -30 : 30) + (float)t;
    for (size_t t = 0; t < 4; t++) {
        pool.values[t] = 5 + (float)t;
        dataset_series(&dataset, 0, 0)[14 + t] = pool.values[t];
        dataset_series(&dataset, 0, 0)[10 + t] = pool.values[t] + 1;
    }
    pool.shapelets[0].start = 8;
    options.columns = 1;
    stream = begin_picture(&size);
    assert_ok(figure_dataset(stream, &dataset, NULL, &pool, &options));
    end_picture(stream);
    assert_int_equal(lines_with("<path", wide), 6);
    assert_drawn(line_with("<path", wide, "", 0), panel(0), dataset_series(&dataset, 0, 0) + 10, 4,
                 10, 21);
    /* Series 1 is in the panel of class 1, where the first shapelet was cut from it. */
    assert_drawn(line_with("<path", wide, "", 3), panel(1),
                 dataset_series(&dataset, 1, 0) + pool.shapelets[1].start, 4,
                 pool.shapelets[1].start, 21);
    free(picture);
    /* Without a window it is looked for everywhere. */
    pool.shapelets[0].window = SLP_WINDOW_FULL;
    stream = begin_picture(&size);
    assert_ok(figure_dataset(stream, &dataset, NULL, &pool, &options));
    end_picture(stream);
    assert_drawn(line_with("<path", wide, "", 0), panel(0), dataset_series(&dataset, 0, 0) + 14, 4,
                 14, 21);
    free(picture);
    pool.steps = 22;
    stream = begin_picture(&size);
    assert_fails("the pool is for series of 2 x 22, these are 2 x 21",
                 figure_dataset(stream, &dataset, NULL, &pool, &options));
    end_picture(stream);
    free(picture);
    slp_free(&pool);
    dataset_free(&dataset);
}

static void a_pool_has_a_panel_for_each_shapelet_with_its_place_and_source(void **state)
{
    static const char grey[] = "stroke=\"#9aa5b1\"", wide[] = "stroke-width=\"2.20\"";
    struct figure_options options = figure_defaults();
    struct shapelet_pool pool;
    struct dataset dataset;
    size_t size;
    FILE *stream;

    (void)state;
    make_set(&dataset);
    make_pool(&dataset, 5, &pool);
    pool.shapelets[3].window = 50;
    pool.shapelets[4].window = SLP_WINDOW_FULL;
    options.columns = 2;
    stream = begin_picture(&size);
    assert_ok(figure_pool(stream, &pool, &dataset, &options));
    end_picture(stream);
    assert_int_equal(lines_with("<rect", "#cccccc"), 5);
    assert_int_equal(lines_with("<path", wide), 5);
    assert_int_equal(lines_with("<path", grey), 5);
    assert_int_equal(lines_with("<rect", "#eef2f6"), 4);
    for (size_t k = 0; k < 5; k++) {
        const struct shapelet *shapelet = &pool.shapelets[k];
        struct box box = panel(k);
        char title[64];

        snprintf(title, sizeof title, ">%zu: class no. %d, gain %.3f<", k, shapelet->label,
                 (double)shapelet->quality);
        assert_non_null(line_with("<text", title, "", 0));
        assert_drawn(line_with("<path", wide, "", k), box, shapelet->values, 4, shapelet->start,
                     21);
        assert_int_equal(path_of(line_with("<path", grey, "", k)).count, 21);
        assert_near(path_of(line_with("<path", grey, "", k)).y[shapelet->start],
                    path_of(line_with("<path", wide, "", k)).y[0], 0);
        /* Two in a row. */
        assert_near(box.x, panel(k % 2).x, 0);
        assert_near(box.y, panel(k / 2 * 2).y, 0);
    }
    assert_true(panel(2).y > panel(0).y + panel(0).height);
    for (size_t k = 0; k < 4; k++) {
        struct box box = panel(k), shaded = box_of(line_with("<rect", "#eef2f6", "", k));
        double from = (double)pool.shapelets[k].start - pool.shapelets[k].window;
        double to = (double)pool.shapelets[k].start + 3 + pool.shapelets[k].window;

        from = from < 0 ? 0 : from;
        to = to > 20 ? 20 : to;
        assert_near(shaded.x - (box.x + box.width * from / 20), 0, 0.11);
        assert_near(shaded.x + shaded.width - (box.x + box.width * to / 20), 0, 0.21);
    }
    free(picture);
    pool.shapelets[2].source = 6;
    stream = begin_picture(&size);
    assert_fails("not found in this dataset", figure_pool(stream, &pool, &dataset, &options));
    end_picture(stream);
    free(picture);
    slp_free(&pool);
    dataset_free(&dataset);
}

static void no_peak_is_lost_where_steps_are_many(void **state)
{
    struct figure_options options = figure_defaults();
    struct dataset dataset;
    struct axis axis;
    size_t size;
    FILE *stream;

    (void)state;
    assert_ok(dataset_new(1, 1, 9000, 1, false, &dataset));
    for (size_t t = 0; t < 9000; t++)
        dataset.x[t] = (float)(t % 3) - 1;
    dataset.x[4567] = 1.4F;
    stream = begin_picture(&size);
    assert_ok(figure_dataset(stream, &dataset, NULL, NULL, &options));
    end_picture(stream);
    axis = axis_of("end", 0, INFINITY);
    assert_means(&axis, path_of(line_with("<path", "", "", 0)).top, 1.4);
    assert_int_equal(lines_with("outliers", ""), 0);
    free(picture);
    dataset.x[4567] = 50; /* a spike is drawn at the edge and does not flatten the rest */
    stream = begin_picture(&size);
    assert_ok(figure_dataset(stream, &dataset, NULL, NULL, &options));
    end_picture(stream);
    assert_near(path_of(line_with("<path", "", "", 0)).top, panel(0).y, 0.1);
    assert_int_equal(lines_with("outliers are drawn at the edge", ""), 1);
    assert_int_equal(lines_with("<text", ">2<"), 0);
    free(picture);
    dataset_free(&dataset);
}

static void curves_lie_where_the_axes_say_and_have_gaps(void **state)
{
    static const char text[] = "epoch,loss,held out\n10,3,8\n20,-2,-\n30,,9\n60,5,\n100,1,2\n";
    static const double x[] = {10, 20, 60, 100}, loss[] = {3, -2, 5, 1};
    struct figure_options options = figure_defaults();
    struct axis across, up;
    struct table table;
    struct path path;
    size_t size;
    FILE *stream;

    (void)state;
    assert_ok(table_parse(text, strlen(text), &table));
    stream = begin_picture(&size);
    assert_ok(figure_curves(stream, &table, &options));
    end_picture(stream);
    across = axis_of("middle", 0, INFINITY);
    up = axis_of("end", 0, INFINITY);
    assert_int_equal(lines_with("<path", ""), 2);
    path = path_of(line_with("<path", "", "", 0));
    assert_int_equal(path.count, 4);
    assert_int_equal(path.begins, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_means(&across, path.x[i], x[i]);
        assert_means(&up, path.y[i], loss[i]);
    }
    path = path_of(line_with("<path", "", "", 1));
    assert_int_equal(path.count, 3);
    assert_int_equal(path.begins, 3);
    assert_means(&up, path.y[0], 8);
    assert_means(&up, path.y[1], 9);
    assert_means(&across, path.x[1], 30);
    assert_means(&across, panel(0).x, 10);
    assert_means(&across, panel(0).x + panel(0).width, 100);
    /* A margin of a twentieth above and below. */
    assert_means(&up, panel(0).y, 9 + 0.05 * 11);
    assert_means(&up, panel(0).y + panel(0).height, -2 - 0.05 * 11);
    assert_non_null(line_with("<text", ">held out<", "", 0));
    free(picture);
    table_free(&table);
}

static void marks_on_axes_are_round_and_about_as_many_as_wanted(void **state)
{
    (void)state;
    for (double extent = 1e-7; extent < 1e9; extent *= 1.37)
        for (double wanted = 2; wanted < 20; wanted += 3) {
            double tick = svg_tick(extent, wanted);
            double digit = tick / pow(10, floor(log10(tick) + 1e-9));
            double marks = extent / tick;

            assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
            assert_true(marks > wanted / 1.8 && marks < wanted * 1.8);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_lie_where_the_axes_say),
        cmocka_unit_test(a_dataset_of_one_value_is_drawn_in_the_middle),
        cmocka_unit_test(series_behind_are_of_the_class_and_stay_in_the_frame),
        cmocka_unit_test(three_shapelets_of_the_class_are_marked_where_they_match_best),
        cmocka_unit_test(a_pool_has_a_panel_for_each_shapelet_with_its_place_and_source),
        cmocka_unit_test(no_peak_is_lost_where_steps_are_many),
        cmocka_unit_test(curves_lie_where_the_axes_say_and_have_gaps),
        cmocka_unit_test(marks_on_axes_are_round_and_about_as_many_as_wanted),
    };

    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
