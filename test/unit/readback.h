/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive as text, read by lib/read: one line for each event, location by location,
 * so that a test can say what it expects in words.
 *
 * Limits: for tests; knows the records that the assembly writes.
 */
#ifndef GT_TEST_READBACK_H
#define GT_TEST_READBACK_H

/*
 * Lines "<location> <nanoseconds> <EVENT> <details>". NULL if the archive cannot be read. The caller
 * frees it.
 */
char *rb_events(const char *dir);

/* Lines "location 0 <name> in <group>", "region <name> ...", "property <key>=<value>" and so on. */
char *rb_definitions(const char *dir);

/* Lines "marker <ns> <category> <scope> <text>". */
char *rb_markers(const char *dir);

#endif
