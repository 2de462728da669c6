/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digest.h - 64 bits that stand for a record: two that differ have, but for chance, different ones.
 */
#ifndef DFRS_DIGEST_H
#define DFRS_DIGEST_H

#include "bits.h"

#include <string.h>

#define DFRS_DIGEST_START UINT64_C(0x9ae16a3b2f90404f)

/* A multiplication and a fold, as in most hash functions of words. */
static inline uint64_t dfrs_digest(uint64_t digest, uint64_t value)
{
	unsigned __int128 product = (unsigned __int128) (digest ^ value) *
				    UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t) product ^ (uint64_t) (product >> 64) ^ UINT64_C(0xc3a5c85c97cb3127);
}

static inline uint64_t dfrs_digest_bytes(uint64_t digest, const void *bytes, size_t length)
{
	const char *next = bytes;
	uint64_t value;

	digest = dfrs_digest(digest, length);
	for (; length >= sizeof(value); length -= sizeof(value), next += sizeof(value)) {
		memcpy(&value, next, sizeof(value));
		digest = dfrs_digest(digest, value);
	}
	value = 0;
	memcpy(&value, next, length);
	return length ? dfrs_digest(digest, value) : digest;
}

/* text may be NULL, which is as "". */
static inline uint64_t dfrs_digest_text(uint64_t digest, const char *text)
{
	return dfrs_digest_bytes(digest, text ? text : "", text ? strlen(text) : 0);
}

/* bits may be NULL, which is not as an empty one. */
static inline uint64_t dfrs_digest_bits(uint64_t digest, const bitstr_t *bits)
{
	uint32_t words = bits ? dfrs_words(bits) : 0;

	digest = dfrs_digest(digest, bits ? words + 1 : 0);
	for (uint32_t word = 0; word < words; word++)
		digest = dfrs_digest(digest, dfrs_word(bits, word));
	return digest;
}

#endif
