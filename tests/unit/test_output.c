#include "support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output.h"

/* ---- Signals at every system call that changes a folder ---- */

/* These take the place of the C library's: the process gets the signal before or after the call
 * with this number, counted twice for each. */
static int signal_point, signal_number, points;
static bool without_nameless_files;

static void pass_point(void)
{
    if (signal_point && ++points == signal_point)
        raise(signal_number);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    long result;

    pass_point();
    result = syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    pass_point();
    return (int)result;
}

int rename(const char *from, const char *to)
{
    long result;

    pass_point();
    result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    pass_point();
    return (int)result;
}

int unlink(const char *path)
{
    long result;

    pass_point();
    result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    pass_point();
    return (int)result;
}

int access(const char *path, int mode)
{
    if (without_nameless_files && strcmp(path, "/proc/self/fd") == 0) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

/* As of a network file system that is full. */
static bool closes_fail;

int close(int file)
{
    int result = (int)syscall(SYS_close, file);

    if (closes_fail)
        errno = EDQUOT;
    return closes_fail ? -1 : result;
}

/* Only a power cut would tell, and the disk would take seconds. */
int fsync(int file)
{
    (void)file;
    return 0;
}

/* As the tools do. */
static volatile sig_atomic_t put_off;

static void clean_up(int number)
{
    if (output_is_committing()) {
        put_off = number;
        return;
    }
    output_abort_all_from_signal();
    signal(number, SIG_DFL);
    raise(number);
}

/* Each test has a folder of its own as the working folder. */
static int enter_folder(void **state)
{
    char *folder = strdup("/tmp/sc-output-XXXXXX");

    *state = folder;
    return !folder || !mkdtemp(folder) || chdir(folder);
}

static int leave_folder(void **state)
{
    char command[128];

    snprintf(command, sizeof command, "chmod -R u+w %s && rm -rf %s", (char *)*state,
             (char *)*state);
    free(*state);
    return chdir("/") || system(command);
}

static size_t files_here(void)
{
    DIR *folder = opendir(".");
    size_t count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

/* Not every file system has them; then a killed process may leave a hidden temporary file. */
static bool has_nameless_files(void)
{
    int descriptor = open(".", O_TMPFILE | O_WRONLY, 0600);

    if (descriptor >= 0)
        close(descriptor);
    return descriptor >= 0;
}

static void assert_holds(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *stream = fopen(path, "rb");

    assert_non_null(stream);
    assert_int_equal(fread(text, 1, sizeof text - 1, stream), strlen(expected));
    assert_string_equal(text, expected);
    fclose(stream);
}

static void write_file(const char *path, const char *text)
{
    struct output output;

    assert_ok(output_open(path, &output));
    fputs(text, output.stream);
    assert_ok(output_commit(&output));
}

static void a_file_appears_only_when_it_is_whole(void **state)
{
    struct output output;

    (void)state;
    assert_ok(output_open("new", &output));
    fputs("text", output.stream);
    fflush(output.stream);
    assert_int_equal(access("new", F_OK), -1);
    assert_ok(output_commit(&output));
    assert_holds("new", "text");
    assert_int_equal(files_here(), 1);
}

static void an_old_file_stays_until_the_new_one_is_whole(void **state)
{
    struct output output;

    (void)state;
    write_file("file", "old");
    assert_ok(output_open("file", &output));
    fputs("half", output.stream);
    fflush(output.stream);
    assert_holds("file", "old");
    output_abort(&output);
    assert_holds("file", "old");
    assert_int_equal(files_here(), 1);
    write_file("file", "new");
    assert_holds("file", "new");
}

static void a_killed_process_leaves_the_old_file(void **state)
{
    int ready[2], status;
    char byte;
    pid_t child;

    (void)state;
    write_file("file", "old");
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        struct output output;

        if (output_open("file", &output))
            _exit(1);
        fputs("half", output.stream);
        fflush(output.stream);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_holds("file", "old");
    if (has_nameless_files())
        assert_int_equal(files_here(), 1);
    close(ready[0]);
    close(ready[1]);
}

static void modes_follow_the_umask_or_the_file_replaced(void **state)
{
    mode_t before = umask(027);
    struct stat status;

    (void)state;
    write_file("new", "");
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(chmod("new", 0604), 0);
    write_file("new", "again");
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
    assert_int_equal(chmod("new", 04604), 0);
    write_file("new", "again"); /* perhaps of another owner */
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
    umask(before);
}

static void a_link_is_followed_not_replaced(void **state)
{
    struct stat status;

    (void)state;
    write_file("real", "old");
    assert_int_equal(symlink("real", "link"), 0);
    write_file("link", "new");
    assert_holds("real", "new");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void a_link_to_a_file_that_is_not_there_makes_that_file(void **state)
{
    struct stat status;

    (void)state;
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("second", "folder/first"), 0);
    assert_int_equal(symlink("real", "folder/second"), 0);
    write_file("folder/first", "new");
    assert_holds("folder/real", "new");
    assert_int_equal(lstat("folder/first", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void devices_are_written_directly(void **state)
{
    struct output output;
    struct stat status;

    (void)state;
    write_file("/dev/null", "gone");
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_ok(output_open("/dev/full", &output));
    fputs("text", output.stream);
    assert_fails("No space left", output_commit(&output));
}

static void what_only_a_close_tells_is_noticed(void **state)
{
    const char *const paths[] = {"/dev/null", "-"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct output output;
        struct error *error;

        assert_ok(output_open(paths[i], &output));
        closes_fail = true;
        error = output_commit(&output);
        closes_fail = false;
        assert_fails("Disk quota exceeded", error);
    }
}

/* /dev/full under the stream stands in for a disk that fills up. */
static void a_disk_that_fills_up_leaves_the_old_file(void **state)
{
    int status;
    pid_t child;

    (void)state;
    write_file("file", "old");
    child = fork();
    if (child == 0) {
        struct output output;
        struct error *error = output_open("file", &output);

        if (error)
            _exit(1);
        if (dup2(open("/dev/full", O_WRONLY), fileno(output.stream)) < 0)
            _exit(2);
        fputs("new text", output.stream);
        error = output_commit(&output);
        _exit(error && strstr(error_message(error), "No space left") ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_holds("file", "old");
    assert_int_equal(files_here(), 1);
}

static void a_write_that_failed_is_not_forgotten_when_there_is_room_again(void **state)
{
    struct output output;
    int file;

    (void)state;
    assert_ok(output_open("file", &output));
    file = dup(fileno(output.stream));
    assert_true(dup2(open("/dev/full", O_WRONLY), fileno(output.stream)) >= 0);
    fputs("lost", output.stream);
    assert_int_equal(fflush(output.stream), EOF);
    assert_true(dup2(file, fileno(output.stream)) >= 0);
    close(file);
    fputs("kept", output.stream);
    assert_fails("file: a write failed", output_commit(&output));
    assert_int_equal(files_here(), 0);
}

static const char *const names[] = {"first", "second", "third"};

enum { SET = 3 };

static struct error *write_set(const char *text)
{
    struct output outputs[SET];

    for (int i = 0; i < SET; i++) {
        TRY(output_open(names[i], &outputs[i]));
        fputs(text, outputs[i].stream);
    }
    return output_commit_all(outputs, SET);
}

static struct error *write_one(const char *text)
{
    struct output output;

    TRY(output_open(names[0], &output));
    fputs(text, output.stream);
    return output_commit(&output);
}

/* Runs it in a child that gets the signal at that point; false if it ended before. */
static bool ended_by_signal(struct error *(*write_files)(const char *text), int point, int number)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        signal_point = point;
        signal_number = number;
        if (number != SIGKILL)
            signal(number, clean_up);
        if (write_files("new"))
            _exit(1);
        _exit(put_off ? 2 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 1);
    return WIFSIGNALED(status) || WEXITSTATUS(status) == 2;
}

static size_t how_many_hold(const char *expected)
{
    size_t count = 0;

    for (int i = 0; i < SET; i++) {
        char text[8] = "";
        FILE *stream = fopen(names[i], "rb");

        if (stream) {
            count += fread(text, 1, sizeof text - 1, stream) == strlen(expected) &&
                     strcmp(text, expected) == 0;
            fclose(stream);
        }
    }
    return count;
}

static void make_old(unsigned which)
{
    for (int i = 0; i < SET; i++) {
        unlink(names[i]);
        if (which >> i & 1)
            write_file(names[i], "old");
    }
}

static void a_signal_at_any_point_leaves_the_old_file_or_the_new_one_and_nothing_else(void **state)
{
    (void)state;
    for (int nameless = 0; nameless < 2; nameless++) {
        without_nameless_files = !nameless;
        for (unsigned old = 0; old < 2; old++) {
            int point = 1;

            make_old(old);
            for (; ended_by_signal(write_one, point, SIGTERM); point++) {
                assert_int_equal(files_here(), how_many_hold("old") + how_many_hold("new"));
                assert_true(files_here() == 1 || !old);
                make_old(old);
            }
            assert_true(point > 2);
        }
    }
    without_nameless_files = false;
}

static void a_new_file_gets_its_name_at_once(void **state)
{
    (void)state;
    if (!has_nameless_files())
        skip();
    /* Killed after every call, it leaves either nothing or the file, and no other name. */
    for (int point = 1; ended_by_signal(write_one, point, SIGKILL); point++) {
        assert_int_equal(files_here(), how_many_hold("new"));
        unlink(names[0]);
    }
    assert_holds(names[0], "new");
}

static void a_kill_at_any_point_never_leaves_new_files_beside_old_ones(void **state)
{
    struct stat status;

    (void)state;
    for (unsigned old = 0; old < 1 << SET; old++) {
        int point = 1;

        make_old(old);
        for (; ended_by_signal(write_set, point, SIGKILL); point++) {
            assert_true(how_many_hold("old") == 0 || how_many_hold("new") == 0);
            /* The first file stands for all. */
            if (how_many_hold("old") == 0 && stat(names[0], &status) == 0)
                assert_int_equal(how_many_hold("new"), SET);
            make_old(old);
        }
        assert_true(point > 2 * SET);
        assert_int_equal(how_many_hold("new"), SET);
    }
}

static void a_signal_that_is_caught_leaves_all_old_files_or_all_new_ones(void **state)
{
    (void)state;
    for (unsigned old = 0; old < 1 << SET; old += (1 << SET) - 1) {
        int point = 1;

        make_old(old);
        for (; ended_by_signal(write_set, point, SIGTERM); point++) {
            assert_true(how_many_hold("new") == SET || how_many_hold("old") == (old ? SET : 0));
            assert_int_equal(files_here(), how_many_hold("old") + how_many_hold("new"));
            make_old(old);
        }
        assert_true(point > 2 * SET);
    }
}

static void one_file_of_a_set_that_cannot_be_written_leaves_all_old_ones(void **state)
{
    struct output outputs[SET];

    (void)state;
    make_old(7);
    for (int i = 0; i < SET; i++) {
        assert_ok(output_open(names[i], &outputs[i]));
        fputs("new", outputs[i].stream);
    }
    assert_true(dup2(open("/dev/full", O_WRONLY), fileno(outputs[1].stream)) >= 0);
    assert_fails("second: No space left", output_commit_all(outputs, SET));
    assert_int_equal(how_many_hold("old"), SET);
    assert_int_equal(files_here(), SET);
}

static void where_one_file_cannot_be_put_in_place_none_stays(void **state)
{
    const char *const files[] = {"folder/first", "second", "third"};
    struct output outputs[3];

    (void)state;
    assert_int_equal(mkdir("folder", 0700), 0);
    for (int i = 0; i < 3; i++) {
        assert_ok(output_open(files[i], &outputs[i]));
        fputs("new", outputs[i].stream);
    }
    assert_int_equal(rename("folder", "moved"), 0);
    assert_fails("folder/first: No such file", output_commit_all(outputs, 3));
    assert_int_equal(files_here(), 1);
    assert_int_equal(rmdir("moved"), has_nameless_files() ? 0 : -1);
}

static void a_name_as_long_as_can_be_is_replaced(void **state)
{
    char name[NAME_MAX + 1];

    (void)state;
    memset(name, 'x', NAME_MAX);
    name[NAME_MAX] = '\0';
    write_file(name, "old");
    write_file(name, "new");
    assert_holds(name, "new");
    assert_int_equal(files_here(), 1);
}

static void a_loop_of_links_is_refused_and_stays(void **state)
{
    struct output output;
    struct stat status;

    (void)state;
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_fails("a: Too many levels of symbolic links", output_open("a", &output));
    assert_int_equal(lstat("a", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(files_here(), 2);
}

static void what_cannot_be_written_is_refused_at_once(void **state)
{
    struct output output;

    (void)state;
    assert_fails("/nowhere/file: No such file or directory", output_open("/nowhere/file", &output));
    assert_fails("Is a directory", output_open("/tmp", &output));
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_file_appears_only_when_it_is_whole),
        IN_A_FOLDER(an_old_file_stays_until_the_new_one_is_whole),
        IN_A_FOLDER(a_killed_process_leaves_the_old_file),
        IN_A_FOLDER(what_only_a_close_tells_is_noticed),
        IN_A_FOLDER(modes_follow_the_umask_or_the_file_replaced),
        IN_A_FOLDER(a_link_is_followed_not_replaced),
        IN_A_FOLDER(a_link_to_a_file_that_is_not_there_makes_that_file),
        IN_A_FOLDER(devices_are_written_directly),
        IN_A_FOLDER(a_disk_that_fills_up_leaves_the_old_file),
        IN_A_FOLDER(a_write_that_failed_is_not_forgotten_when_there_is_room_again),
        IN_A_FOLDER(a_signal_at_any_point_leaves_the_old_file_or_the_new_one_and_nothing_else),
        IN_A_FOLDER(a_new_file_gets_its_name_at_once),
        IN_A_FOLDER(a_kill_at_any_point_never_leaves_new_files_beside_old_ones),
        IN_A_FOLDER(a_signal_that_is_caught_leaves_all_old_files_or_all_new_ones),
        IN_A_FOLDER(one_file_of_a_set_that_cannot_be_written_leaves_all_old_ones),
        IN_A_FOLDER(where_one_file_cannot_be_put_in_place_none_stays),
        IN_A_FOLDER(a_name_as_long_as_can_be_is_replaced),
        IN_A_FOLDER(a_loop_of_links_is_refused_and_stays),
        IN_A_FOLDER(what_cannot_be_written_is_refused_at_once),
    };

    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
