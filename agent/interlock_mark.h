/*
 * interlock_mark.h - which files Lockstep made, and how far they are filled.
 *
 * A file that the interlock makes carries a mark, the extended attribute
 * user.lockstep.  Where a file system has none, a record of the same text is
 * kept in the agent's state directory under the file system's id and the inode.
 *
 * A mark can outlive what it says, so it names what it was put on:
 *
 *   - the inode and its birth time: a copy, a file restored from a backup, or a
 *     new file with the number of a deleted one is not ours;
 *   - how far the file was filled: a fill that did not come to its end, also by
 * a crash, leaves 0 (or the length before), so the file is filled again;
 *   - the time of its last modification, when we let go of it: a file that
 * someone has written to since is theirs.  While we have it open the mark says
 * so; after a crash this check cannot be made, and is not.
 *
 * In the state directory a record needs the birth time, for without it a reused
 * inode cannot be told.  A file system that offers neither extended attributes
 * nor birth times can hold files that we make, but later campaigns will not
 * write to them: they must be deleted first.
 *
 * The owner of a file can forge its mark, and so offer the file to be
 * overwritten; that is the owner's right.
 */
#ifndef AGENT_INTERLOCK_MARK_H
#define AGENT_INTERLOCK_MARK_H

#include "common/base.h"

#define MARK_SIZE 160u

/* A file, as the kernel knows it. */
struct file_identity {
    uint64_t inode;
    int64_t birth_ns; /* 0: unknown */
    int64_t modified_ns;
};

struct mark {
    uint64_t inode;
    int64_t birth_ns;
    uint64_t filled_bytes;
    bool open;           /* we have it, or a crash ended that */
    int64_t modified_ns; /* when we let go; counts when not open */
};

/* Of any descriptor, O_PATH included.  0 or a negative errno. */
int file_identify(int fd, struct file_identity *ret_identity) MUST_CHECK;

/* The text of a mark, and back: 0, or -EBADMSG when it is none. */
void mark_print(const struct mark *mark, char text[MARK_SIZE]);
int mark_parse(const char *text, struct mark *ret_mark) MUST_CHECK;

/* Is the file the one that the mark was put on?  If not, why, in `why`. */
bool mark_fits(const struct mark *mark, const struct file_identity *identity,
               char *why, size_t why_size);

/*
 * Reads the mark of an open file (O_PATH will do) or its record; -ENODATA when
 * it has none.
 */
int mark_read(const char *state_directory, int fd,
              struct mark *ret_mark) MUST_CHECK;

/* Writes it; `fd` is open for writing.  -EOPNOTSUPP: it can have none. */
int mark_write(const char *state_directory, int fd, const struct mark *mark);

/* The file is about to be deleted: forgets its record. */
void mark_forget(const char *state_directory, int fd);

#endif
