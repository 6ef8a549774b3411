/* Teachers that are programs (sc-teacher-command(7)).  Called with "teach MODE FILE.tch" this
 * program is such a teacher: it serves a network of the engine, or breaks the protocol in the way
 * that MODE says; the tests start it like that, and so does tests/tools/synth.sh. */
#include "support/check.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/coprocess.h"
#include "condense/synthesise.h"
#include "nn/backend.h"
#include "formats/npy-c/npy-c.h"
#include "formats/slp.h"
#include "support/golden.h"

enum { CLASSES = 3, CHANNELS = 2, LENGTH = 20, PER_CLASS = 4, STEPS = 15, MOST_SERIES = 1024 };

/* ---- The teacher ---- */

struct served {
    const char *mode;
    npy_reader *requests;
    struct teacher teacher;
    struct guide guide;
    size_t count; /* series of the last batch */
    size_t steps;
    float *gradients; /* of x, then of the features */
};

static bool next_array(const struct served *served, struct npy_array *array)
{
    struct npy_error error;

    return npy_next(served->requests, array, &error) == 1;
}

static void answer(size_t ndim, const size_t *shape, const float *values)
{
    if (npy_write_data(stdout, NPY_FLOAT, 4, ndim, shape, values, NULL))
        exit(3);
}

static void answer_text(const char *text)
{
    if (npy_write_strings(stdout, &text, 0, 1, NULL))
        exit(3);
}

static bool is_mode(const struct served *served, const char *mode)
{
    return strcmp(served->mode, mode) == 0;
}

static void misbehave_at_hello(const struct served *served)
{
    if (is_mode(served, "die"))
        exit(7);
    if (is_mode(served, "refuse"))
        answer_text("error this teacher is for other series");
    else if (is_mode(served, "garbage"))
        puts("Loading the model, please wait ...");
    else if (is_mode(served, "hush"))
        for (;;)
            pause();
    else
        answer_text(is_mode(served, "newer") ? "ready 2" : "ready 1");
}

static void misbehave_at_forward(const struct served *served)
{
    const size_t many[] = {1000, 1000, 1000};
    const float zeros[1024] = {0};

    if (is_mode(served, "killed") && served->steps == 3)
        raise(SIGKILL);
    if (is_mode(served, "cut") && served->steps == 3) {
        fputs("\x93NUMPY", stdout);
        exit(0);
    }
    if (is_mode(served, "endless")) {
        npy_write_header(stdout, NPY_FLOAT, 4, 3, many, NULL);
        while (fwrite(zeros, sizeof zeros, 1, stdout) == 1)
            ;
        exit(3);
    }
    if (is_mode(served, "drip")) { /* something always comes, but never an answer */
        const struct timespec moment = {.tv_nsec = 50000000};

        for (fwrite("\x93NUMPY\1", 8, 1, stdout); fflush(stdout) == 0; nanosleep(&moment, NULL))
            putchar(' ');
    }
    if (is_mode(served, "stall")) {
        fputs("\x93NUMPY", stdout);
        fflush(stdout);
        for (;;)
            pause();
    }
}

static void serve_forward(struct served *served)
{
    struct npy_array x, features = {0};
    size_t shape[] = {0, served->guide.classes};
    float *logits;

    if (!next_array(served, &x) || (served->guide.features && !next_array(served, &features)))
        exit(3);
    misbehave_at_forward(served);
    if (served->steps++ == 0)
        served->guide.prepare(served->guide.state, 1, MOST_SERIES);
    if (x.shape[0] > MOST_SERIES)
        exit(3);
    served->count = shape[0] = x.shape[0];
    logits = calloc(x.shape[0] * shape[1] + 1, sizeof *logits);
    served->guide.forward(served->guide.state, 0, x.shape[0], x.data, features.data, true, logits);
    if (is_mode(served, "nan"))
        logits[1] /= 0 * logits[1];
    if (is_mode(served, "shape"))
        shape[0]--;
    if (is_mode(served, "flat"))
        shape[0] *= shape[1];
    answer(is_mode(served, "flat") ? 1 : 2, shape, logits);
    free(logits);
    npy_array_free(&x);
    npy_array_free(&features);
}

static void misbehave_at_backward(const struct served *served, const size_t *series, float *dx,
                                  float *dfeatures, float *distance)
{
    const size_t one[] = {1}, turned[] = {series[0], series[2], series[1]};
    static const double large[] = {1e300};

    if (is_mode(served, "steep"))
        dx[served->count * CHANNELS * LENGTH - 1] = INFINITY;
    if (is_mode(served, "steep-features"))
        dfeatures[0] = NAN;
    if (is_mode(served, "nowhere"))
        *distance = NAN;
    if (is_mode(served, "turned"))
        answer(3, turned, dx);
    if (is_mode(served, "again"))
        answer(3, series, dx);
    if (is_mode(served, "large"))
        npy_write_data(stdout, NPY_FLOAT, 8, 1, one, large, NULL);
    if (is_mode(served, "words"))
        answer_text("the gradient");
    if (is_mode(served, "killed-late"))
        raise(SIGTERM);
}

static void serve_backward(struct served *served, const char *text)
{
    const size_t series[] = {served->count, served->guide.channels, served->guide.length};
    const size_t distances[] = {served->count, served->guide.features};
    size_t floats = series[0] * series[1] * series[2];
    float *gradients = calloc(floats + served->count * served->guide.features, sizeof *gradients);
    struct matching matching;
    struct npy_array dlogits;
    char norm[16];
    double distance;
    float sent;

    if (!next_array(served, &dlogits) || sscanf(text, "backward weight=%lf first=%lf norm=%15s",
                                                &matching.weight, &matching.first, norm) != 3)
        exit(3);
    matching.squared = strcmp(norm, "squared") == 0;
    served->guide.backward(served->guide.state, 0, &matching, dlogits.data, gradients,
                           gradients + floats, &distance);
    sent = (float)distance;
    misbehave_at_backward(served, series, gradients, gradients + floats, &sent);
    answer(3, series, gradients);
    if (served->guide.features)
        answer(2, distances, gradients + floats);
    answer(0, series, &sent);
    if (is_mode(served, "more"))
        answer(0, series, &sent);
    npy_array_free(&dlogits);
    free(gradients);
}

static void serve_request(struct served *served, const char *text)
{
    if (strncmp(text, "hello 1 ", 8) == 0)
        misbehave_at_hello(served);
    else if (strcmp(text, "forward") == 0)
        serve_forward(served);
    else if (strncmp(text, "backward ", 9) == 0)
        serve_backward(served, text);
    else
        exit(4);
    fflush(stdout);
}

static int teach(const char *mode, const char *path)
{
    struct served served = {.mode = mode, .requests = npy_open("-", NULL)};
    struct npy_array text;

    if (is_mode(&served, "early"))
        for (;;) /* like yes(1): writes, never reads */
            puts("y");
    assert_ok(teacher_read(path, backend_cpu(), &served.teacher));
    assert_ok(guide_from_teacher(&served.teacher, &served.guide));
    while (next_array(&served, &text)) {
        char **words = npy_strings(&text, NULL);

        if (!words)
            exit(4);
        serve_request(&served, words[0]);
        free(words);
        npy_array_free(&text);
    }
    npy_close(served.requests);
    guide_close(&served.guide);
    teacher_free(&served.teacher);
    if (is_mode(&served, "linger"))
        for (;;)
            pause();
    return 0;
}

/* ---- The tests ---- */

static char self[256];

/* Condenses with the program in that mode. */
static struct error *condense_with(const char *mode, double patience, bool by_round,
                                   struct dataset *condensed)
{
    struct synthesis_options options = synthesis_defaults();
    struct synthesis_result result;
    struct shapelet_pool pool;
    struct transform transform;
    struct teacher teacher = {0};
    struct guide guide = {
        .channels = CHANNELS, .length = LENGTH, .classes = CLASSES, .features = 4};
    struct dataset dataset;
    struct error *error = NULL;
    const char *runner = getenv("SC_RUNNER"); /* what emulates the processor of this program */
    char command[1200];

    options.per_class = PER_CLASS;
    options.steps = STEPS;
    options.by_round = by_round;
    assert_ok(slp_read(golden_path("synthesis.slp"), &pool));
    assert_ok(transform_make(&pool, CHANNELS, LENGTH, TRANSFORM_AS_FOUND, &transform));
    assert_ok(dataset_new(CLASSES, CHANNELS, LENGTH, CLASSES, false, &dataset));
    for (size_t i = 0; i < CLASSES * CHANNELS * LENGTH; i++)
        dataset.x[i] = (float)(i * i % 23) / 10 - 1;
    for (int i = 0; i < CLASSES; i++)
        dataset.y[i] = i;
    snprintf(command, sizeof command, "exec %s '%s' teach %s '%s'", runner ? runner : "", self,
             mode, golden_path("synthesis.tch"));
    if (strcmp(mode, "engine") == 0) {
        assert_ok(teacher_read(golden_path("synthesis.tch"), backend_cpu(), &teacher));
        assert_ok(guide_from_teacher(&teacher, &guide));
    } else {
        error = guide_from_command(strcmp(mode, "missing") ? command : "exec /no/such/program 2>&-",
                                   patience, &guide);
    }
    if (!error)
        error = synthesise(&options, &dataset, &guide, &transform, condensed, &result);
    guide_close(&guide);
    teacher_free(&teacher);
    dataset_free(&dataset);
    transform_free(&transform);
    slp_free(&pool);
    return error;
}

static void assert_no_child(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void a_program_gives_what_the_network_that_it_serves_gives(void **state)
{
    (void)state;
    for (int by_round = 0; by_round < 2; by_round++) {
        struct dataset engine, command;

        assert_ok(condense_with("engine", 60, by_round, &engine));
        assert_ok(condense_with("well", 60, by_round, &command));
        assert_memory_equal(engine.x, command.x,
                            PER_CLASS * CLASSES * CHANNELS * LENGTH * sizeof *engine.x);
        assert_memory_equal(engine.soft, command.soft,
                            PER_CLASS * CLASSES * CLASSES * sizeof *engine.soft);
        dataset_free(&engine);
        dataset_free(&command);
        assert_no_child();
    }
}

static void every_way_to_break_the_protocol_is_an_error_that_says_which(void **state)
{
    static const struct {
        const char *mode, *message;
    } cases[] = {
        {"missing", "teacher command: exited with status 127"},
        {"die", "teacher command: exited with status 7"},
        {"refuse", "teacher command: this teacher is for other series"},
        {"garbage", "where its first words should be: not an NPY file"},
        {"newer", "said \"ready 2\" instead of \"ready 1\""},
        {"early", "teacher command: "}, /* which of two reasons depends on who is faster */
        {"killed", "was killed by signal 9"},
        {"cut", "exited with status 0"},
        {"endless", "the logits are too long"},
        {"nan", "its logits are not finite"},
        {"shape", "its logits must have the shape (3, 3), not (2, 3)"},
        {"flat", "its logits must have the shape (3, 3), not (9)"},
        {"more", "teacher command: "},
        {"steep", "its gradients are not finite"},
        {"steep-features", "its gradients of the features are not finite"},
        {"nowhere", "its statistics are not finite"},
        {"turned", "its gradients must have the shape (3, 2, 20), not (3, 20, 2)"},
        {"again", "its gradients of the features must have the shape (3, 4), not (3, 2, 20)"},
        {"large", "its gradients must have the shape (3, 2, 20), not (1)"},
        {"words", "its gradients must have the shape (3, 2, 20), not ()"},
        {"killed-late", "was killed by signal 15"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dataset condensed;

        assert_fails(cases[i].message, condense_with(cases[i].mode, 20, false, &condensed));
        assert_no_child();
    }
}

static void a_program_that_hangs_is_given_up_and_killed(void **state)
{
    struct dataset condensed;

    (void)state;
    assert_fails("no first words within 0.3 seconds",
                 condense_with("hush", 0.3, false, &condensed));
    assert_no_child();
    assert_fails("no logits within 3 seconds", condense_with("stall", 3, false, &condensed));
    assert_no_child();
    assert_fails("no logits within 3 seconds", condense_with("drip", 3, false, &condensed));
    assert_no_child();
    assert_ok(condense_with("linger", 20, false, &condensed));
    dataset_free(&condensed);
    assert_no_child();
}

/* More than a pipe holds: with plain writes both sides would wait for each other. */
static void sending_much_never_hangs(void **state)
{
    static const struct {
        const char *command, *message;
    } cases[] = {
        {"while :; do echo y; done", "wrote before it was asked"},
        {"exec sleep 100", "did not read what it was sent within 0.3 seconds"},
        {"exec true", "exited with status 0"},
        {"exec <&- >&-; exec sleep 100", "closed its input or output"},
    };
    enum { MUCH = 1 << 20 };
    char *bytes = calloc(MUCH, 1);
    struct coprocess coprocess;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(coprocess_start(cases[i].command, 0.3, &coprocess));
        coprocess.patience = i == 1 ? 0.3 : 20;
        assert_fails(cases[i].message, coprocess_send(&coprocess, bytes, MUCH));
        coprocess_end(&coprocess);
        assert_no_child();
    }
    free(bytes);
}

/* Whether a process ends within a second. */
static bool ends(pid_t process)
{
    const struct timespec moment = {.tv_nsec = 10000000};

    for (int i = 0; i < 100; i++) {
        char path[64], state = '?';
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
        file = fopen(path, "r");
        if (!file)
            return true;
        /* A zombie waits for whoever inherited it. */
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z') {
            fclose(file);
            return true;
        }
        fclose(file);
        nanosleep(&moment, NULL);
    }
    return false;
}

static void nothing_that_the_program_started_stays(void **state)
{
    static const char *const commands[] = {"sleep 1000 >&- <&- & echo $!; cat",
                                           "sleep 1000 & echo $!; exec >&- <&-; exit 3",
                                           "sleep 1000 & echo $!; while :; do :; done"};

    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct coprocess coprocess;
        char text[32] = "";

        assert_ok(coprocess_start(commands[i], 20, &coprocess));
        coprocess_expect(&coprocess, sizeof text - 1);
        assert_true(coprocess_read(&coprocess, text, sizeof text - 1) > 0);
        coprocess.hopeless = i == 2;
        coprocess_end(&coprocess);
        assert_no_child();
        assert_true(atoi(text) > 1);
        assert_true(ends(atoi(text)));
    }
}

static void what_is_sent_comes_back_from_cat(void **state)
{
    struct coprocess coprocess;
    char bytes[1000], back[1000];
    size_t got = 0;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    assert_ok(coprocess_start("cat", 20, &coprocess));
    assert_ok(coprocess_send(&coprocess, bytes, sizeof bytes));
    coprocess_expect(&coprocess, sizeof back);
    while (got < sizeof back) {
        ssize_t part = coprocess_read(&coprocess, back + got, sizeof back - got);

        assert_true(part > 0);
        got += (size_t)part;
    }
    assert_memory_equal(bytes, back, sizeof back);
    coprocess_end(&coprocess);
    assert_no_child();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gives_what_the_network_that_it_serves_gives),
        cmocka_unit_test(every_way_to_break_the_protocol_is_an_error_that_says_which),
        cmocka_unit_test(a_program_that_hangs_is_given_up_and_killed),
        cmocka_unit_test(sending_much_never_hangs),
        cmocka_unit_test(nothing_that_the_program_started_stays),
        cmocka_unit_test(what_is_sent_comes_back_from_cat),
    };
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (argc == 4 && strcmp(argv[1], "teach") == 0)
        return teach(argv[2], argv[3]);
    if (length <= 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
