#include "support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output.h"

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
    struct output output;
    struct stat status;

    (void)state;
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("second", "folder/first"), 0);
    assert_int_equal(symlink("real", "folder/second"), 0);
    write_file("folder/first", "new");
    assert_holds("folder/real", "new");
    assert_int_equal(lstat("folder/first", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_ok(output_open("loop", &output));
    output_abort(&output);
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
        IN_A_FOLDER(modes_follow_the_umask_or_the_file_replaced),
        IN_A_FOLDER(a_link_is_followed_not_replaced),
        IN_A_FOLDER(a_link_to_a_file_that_is_not_there_makes_that_file),
        IN_A_FOLDER(devices_are_written_directly),
        IN_A_FOLDER(a_disk_that_fills_up_leaves_the_old_file),
        IN_A_FOLDER(a_write_that_failed_is_not_forgotten_when_there_is_room_again),
        IN_A_FOLDER(what_cannot_be_written_is_refused_at_once),
    };

    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
