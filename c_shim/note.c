/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * note.c - a number in brackets, at the end of texts that others wrote.
 */
#include "internal.h"

#include <ctype.h>

const dfrs_note_t dfrs_note_parked = { "[DFRS: ", "0123456789", " parked]" };
const dfrs_note_t dfrs_note_yield = { "[DFRS: yield ", "0123456789.", "]" };

/* Where the note that begins here ends; NULL: none begins here. */
static const char *end_of_note(const char *text, const dfrs_note_t *note)
{
	if (strncmp(text, note->before, strlen(note->before)))
		return NULL;
	text += strlen(note->before);
	if (!isdigit((unsigned char) *text))
		return NULL;
	text += strspn(text, note->number);
	return strncmp(text, note->after, strlen(note->after)) ? NULL : text + strlen(note->after);
}

char *dfrs_without_note(const char *text, const dfrs_note_t *note)
{
	char *rest = xstrdup(text ? text : ""), *to = rest;

	for (const char *from = rest; *from;) {
		const char *end = end_of_note(from, note);

		if (!end) {
			*to++ = *from++;
			continue;
		}
		from = end;
		if ((to > rest) && (to[-1] == ' '))
			to--;
	}
	*to = '\0';
	return rest;
}

void dfrs_add_note(char **text, const dfrs_note_t *note, const char *number)
{
	xstrfmtcat(*text, "%s%s%s%s", (*text && **text) ? " " : "", note->before, number, note->after);
}
