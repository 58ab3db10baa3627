/*
 * tree.h - a folder tree from one text file, so that the sysfs of a host we do
 * not have is a page that a person can read and check.
 *
 *     # a comment
 *     /sys/block/sda/size = 937703088
 *     /sys/block/sda -> ../devices/pci0000:00/.../block/sda
 *     /sys/kernel/empty/
 *
 * A value is everything behind " = ", with \xHH for a byte, and gets a newline
 * unless it ends with \c.  Folders on the way are made.
 */
#ifndef TESTS_SUPPORT_TREE_H
#define TESTS_SUPPORT_TREE_H

/*
 * Makes the tree of `file` in memory (suite.h) and returns its path, which the
 * caller frees.  Anything wrong fails the test.
 */
char *tree_make(const char *file);

/* Adds to a tree, one line of the above form; replaces a file or link. */
void tree_add(const char *root, const char *line);

#endif
