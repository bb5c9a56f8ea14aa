/* Tests which file a trace is written to: one that is new, that nobody else can read, and that no
 * other process writes. The program runs itself, for each a mode of its own. */
#define HARNESS_OWN_MAIN
#include "traces.h"

#include <sys/file.h>

static char line[8192];

/* All files that begin so and are there now; their number. Each is unlinked and its text, to be
 * freed, given. */
typedef struct found {
    char name[300];
    char *text;
} found;

static int take_files(const char *path, found *files, int most) {
    const char *slash = strrchr(path, '/');
    DIR *directory = opendir(P_tmpdir);
    struct dirent *each;
    int count = 0;
    while ((each = readdir(directory)) != NULL && count < most) {
        if (strncmp(each->d_name, slash + 1, strlen(slash + 1)) == 0) {
            snprintf(files[count].name, sizeof files->name, P_tmpdir "/%s", each->d_name);
            files[count].text = whole_file(files[count].name);
            unlink(files[count].name);
            count++;
        }
    }
    closedir(directory);
    return count;
}

static void free_files(found *files, int count) {
    for (int i = 0; i < count; i++) {
        free(files[i].text);
    }
}

/* The text of the file with that name; "" if there is none. */
static const char *text_of(const found *files, int count, const char *name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(files[i].name, name) == 0) {
            return files[i].text;
        }
    }
    return "";
}

static mode_t mode_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST("only who runs the program may read its trace, whatever the umask says") {
    static const mode_t masks[] = {0, 022, 077, 0777};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        vow_trace_stop();
        mode_t before = umask(masks[i]);
        CHECK_INT_EQ(vow_trace_start(new_path()), 0);
        umask(before);
        CHECK_INT_EQ(mode_of(trace_path), 0600);
        CHECK_INT_EQ(vow_trace_stop(), 0);
        unlink(trace_path);
    }
}

/* Whether a descriptor of that file is open here, and stays so when a program is executed. */
static bool is_inherited(const char *path) {
    struct stat wanted;
    struct stat status;
    bool is_open = false;
    CHECK_INT_EQ(stat(path, &wanted), 0);
    for (int i = 0; i < 256; i++) {
        if (fstat(i, &status) == 0 && status.st_ino == wanted.st_ino &&
            status.st_dev == wanted.st_dev) {
            is_open = true;
            if ((fcntl(i, F_GETFD) & FD_CLOEXEC) == 0) {
                return true;
            }
        }
    }
    CHECK(is_open);
    return false;
}

TEST("a program that is executed inherits no descriptor of a trace") {
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(new_path()), 0);
    CHECK(!is_inherited(trace_path));
    CHECK_INT_EQ(vow_trace_stop(), 0);
    unlink(trace_path);
}

static void write_file(const char *path, const char *text) {
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);
    CHECK_INT_EQ(write(file, text, strlen(text)), strlen(text));
    close(file);
}

TEST("a file that is there is replaced by a new one, and who has it open sees nothing") {
    vow_trace_stop();
    write_file(new_path(), "old");
    CHECK_INT_EQ(chmod(trace_path, 0666), 0);
    int before = open(trace_path, O_RDONLY);
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    label_many("new", 3);
    CHECK_INT_EQ(mode_of(trace_path), 0600);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    CHECK_INT_EQ(read(before, line, sizeof line), 3);
    close(before);
    char *text = whole_file(trace_path);
    CHECK(is_whole(text));
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"e\"", "new"), 3);
    unlink(trace_path);
    free(text);
}

TEST("a symbolic link to a file stays, and what it leads to is replaced; one to nothing is "
     "refused") {
    char target[80];
    vow_trace_stop();
    snprintf(target, sizeof target, "%s.target", new_path());
    CHECK_INT_EQ(symlink(target, trace_path), 0);
    CHECK_INT_EQ(vow_trace_start(trace_path), VOW_EINVAL);
    CHECK_INT_EQ(errno, ENOENT);
    write_file(target, "old");
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    CHECK(readlink(trace_path, line, sizeof line) > 0);
    CHECK_INT_EQ(mode_of(target), 0600);
    char *text = whole_file(target);
    CHECK(is_whole(text));
    free(text);
    unlink(trace_path);
    unlink(target);
}

/* As root what somebody else has left there; else what is one's own, which is taken. */
TEST("in a sticky folder for all, a link or pipe of somebody else's is not written to") {
    char folder[64];
    char path[80];
    char target[80];
    bool is_root = geteuid() == 0;
    vow_trace_stop();
    make_path(folder, sizeof folder);
    CHECK_INT_EQ(mkdir(folder, 0700), 0);
    CHECK_INT_EQ(chmod(folder, 01777), 0);
    snprintf(path, sizeof path, "%s/trace", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    write_file(target, "precious");
    CHECK_INT_EQ(symlink(target, path), 0);
    if (is_root) {
        CHECK_INT_EQ(lchown(path, 12345, 12345), 0);
    }
    CHECK_INT_EQ(vow_trace_start(path), is_root ? VOW_EINVAL : 0);
    CHECK(!is_root || errno == EACCES);
    vow_trace_stop();
    char *text = whole_file(target);
    CHECK(is_root ? strcmp(text, "precious") == 0 : is_whole(text));
    free(text);
    unlink(path);
    CHECK_INT_EQ(mkfifo(path, 0666), 0);
    if (is_root) {
        CHECK_INT_EQ(chown(path, 12345, 12345), 0);
    }
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    CHECK_INT_EQ(vow_trace_start(path), is_root ? VOW_EINVAL : 0);
    vow_trace_stop();
    close(reader);
    unlink(path);
    /* A plain one is replaced. */
    write_file(path, "his");
    if (is_root) {
        CHECK_INT_EQ(chown(path, 12345, 12345), 0);
    }
    CHECK_INT_EQ(vow_trace_start(path), 0);
    vow_trace_stop();
    struct stat status;
    CHECK_INT_EQ(stat(path, &status), 0);
    CHECK_INT_EQ(status.st_uid, geteuid());
    unlink(path);
    unlink(target);
    rmdir(folder);
}

TEST("a pipe that another process writes is refused") {
    vow_trace_stop();
    CHECK_INT_EQ(mkfifo(new_path(), 0600), 0);
    int other = open(trace_path, O_RDWR);
    CHECK_INT_EQ(flock(other, LOCK_EX), 0);
    CHECK_INT_EQ(vow_trace_start(trace_path), VOW_EINVAL);
    CHECK_INT_EQ(errno, EBUSY);
    close(other);
    unlink(trace_path);
}

/* ------------------------------------------- processes with the same VOW_TRACE */

MODE(child_inherits, "child inherits") {
    label_many("parent's, before", 2);
    CHECK_INT_EQ(end_of(start_self("returns", NULL, NULL, -1)), 0);
    label_many("parent's, after", 2);
}

/* The text of the one file, and of the one whose name says which process wrote it. */
static void check_child(const char *play, const char *in_parents) {
    found files[9];
    char *said = NULL;
    char sentence[4096];
    const char *path = new_path();
    CHECK_INT_EQ(run_self(play, "VOW_TRACE", path, &said), 0);
    int count = take_files(path, files, 9);
    CHECK_INT_EQ(count, 2);
    const char *parents = text_of(files, count, path);
    CHECK(is_whole(parents));
    CHECK_INT_EQ(COUNT(parents, "\"ph\":\"e\"", in_parents), 2);
    CHECK_INT_EQ(COUNT(parents, "by environment"), 0);
    for (int i = 0; i < count; i++) {
        if (files[i].text != parents) {
            CHECK(is_whole(files[i].text));
            CHECK_INT_EQ(COUNT(files[i].text, "\"ph\":\"e\"", "by environment"), 1);
            const char *number = strrchr(files[i].name, '.');
            snprintf(sentence, sizeof sentence, "\"pid\":%s", number + 1);
            CHECK(FIND(files[i].text, line, "process_name", sentence));
            snprintf(sentence, sizeof sentence,
                     "vow: trace: %s is another process's; this one writes %s\n", path,
                     files[i].name);
            CHECK_STR_EQ(said, sentence);
        }
    }
    free_files(files, count);
    free(said);
}

TEST("a child with its parent's VOW_TRACE writes a file of its own, and says which") {
    check_child("child inherits", "parent's, after");
}

MODE(child_comes_late, "child comes late") {
    label_many("parent's, before", 2);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    CHECK_INT_EQ(end_of(start_self("returns", NULL, NULL, -1)), 0);
}

TEST("a child that begins when its parent's trace has ended leaves that alone, too") {
    check_child("child comes late", "parent's, before");
}

MODE(becomes_another, "becomes another") {
    label_many("parent's, before", 2);
    execl(program_path, program_path, "--play", "returns", (char *)NULL);
    CHECK(!"it is executed");
}

TEST("a program that a traced process becomes does not write over that one's trace") {
    found files[9];
    const char *path = new_path();
    CHECK_INT_EQ(run_self("becomes another", "VOW_TRACE", path, NULL), 0);
    int count = take_files(path, files, 9);
    CHECK_INT_EQ(count, 2);
    CHECK_INT_EQ(COUNT(text_of(files, count, path), "\"ph\":\"e\"", "parent's, before"), 2);
    free_files(files, count);
}

/* What the processes that begin at once tell that they are there, and learn that all are. */
enum { ready = 100, all_ready = 101 };

MODE(meets, "meets others") {
    char byte;
    label_many("one of many", 1);
    CHECK_INT_EQ(write(ready, "x", 1), 1);
    CHECK_INT_EQ(read(all_ready, &byte, 1), 0);
}

TEST("processes that run at once with the same VOW_TRACE have a file each") {
    enum { many = 8 };
    found files[many + 1];
    pid_t children[many];
    int here[2];
    int go[2];
    char known[many][24];
    const char *path = new_path();
    write_file(path, "old");
    CHECK_INT_EQ(pipe2(here, O_CLOEXEC) + pipe2(go, O_CLOEXEC), 0);
    dup2(here[1], ready);
    dup2(go[0], all_ready);
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < many; i++) {
        children[i] = start_self("meets others", "VOW_TRACE", path, quiet);
    }
    close(ready);
    close(here[1]);
    for (int i = 0; i < many; i++) {
        CHECK_INT_EQ(read(here[0], line, 1), 1);
    }
    close(go[1]);
    for (int i = 0; i < many; i++) {
        CHECK_INT_EQ(end_of(children[i]), 0);
    }
    close(quiet);
    close(here[0]);
    close(go[0]);
    close(all_ready);
    int count = take_files(path, files, many + 1);
    CHECK_INT_EQ(count, many);
    for (int i = 0; i < count; i++) {
        CHECK(is_whole(files[i].text));
        CHECK_INT_EQ(COUNT(files[i].text, "\"process_name\""), 1);
        CHECK(FIND(files[i].text, line, "process_name"));
        const char *number = strstr(line, "\"pid\":");
        snprintf(known[i], sizeof known[i], "%.23s", number != NULL ? number : "");
        for (int j = 0; j < i; j++) {
            CHECK(strcmp(known[i], known[j]) != 0);
        }
    }
    free_files(files, count);
}

TEST("a run after the other replaces its trace") {
    found files[9];
    const char *path = new_path();
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(run_self("returns", "VOW_TRACE", path, NULL), 0);
    }
    int count = take_files(path, files, 9);
    CHECK_INT_EQ(count, 1);
    CHECK_INT_EQ(COUNT(files[0].text, "\"ph\":\"e\"", "by environment"), 1);
    free_files(files, count);
}

TEST("a process replaces a trace of its own where the program asks for it") {
    found files[9];
    vow_trace_stop();
    const char *path = new_path();
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(vow_trace_start(path), 0);
        CHECK_INT_EQ(vow_trace_stop(), 0);
    }
    int count = take_files(path, files, 9);
    CHECK_INT_EQ(count, 1);
    free_files(files, count);
}

MODE(is_killed_early, "is killed early") {
    label_many("until killed", 5);
    kill(getpid(), SIGKILL);
}

TEST("a trace that a killed process has left is replaced") {
    found files[9];
    const char *path = new_path();
    CHECK_INT_EQ(run_self("is killed early", "VOW_TRACE", path, NULL), -SIGKILL);
    CHECK_INT_EQ(run_self("returns", "VOW_TRACE", path, NULL), 0);
    int count = take_files(path, files, 9);
    CHECK_INT_EQ(count, 1);
    CHECK_INT_EQ(COUNT(files[0].text, "\"ph\":\"e\"", "by environment"), 1);
    free_files(files, count);
}

MODE(to_standard_output, "to standard output") {
    CHECK_INT_EQ(vow_trace_start("/dev/stdout"), VOW_EINVAL);
    CHECK_INT_EQ(errno, EBUSY);
}

TEST("a file that is the program's standard output is not replaced") {
    char path[64];
    make_path(path, sizeof path);
    write_file(path, "kept\n");
    int saved = dup(1);
    int file = open(path, O_WRONLY | O_APPEND);
    dup2(file, 1);
    int end = run_self("to standard output", NULL, NULL, NULL);
    dup2(saved, 1);
    close(saved);
    close(file);
    CHECK_INT_EQ(end, 0);
    char *text = whole_file(path);
    CHECK_STR_EQ(text, "kept\n");
    free(text);
    unlink(path);
}

int main(int count, char **arguments) {
    return traces_main(count, arguments);
}
