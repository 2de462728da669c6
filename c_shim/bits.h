/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bits.h - walks over Slurm's bit strings, word by word. 22.05 has no call for the next set bit.
 */
#ifndef DFRS_BITS_H
#define DFRS_BITS_H

#include "slurm_headers.h"

/* In front of a bit string's words: a magic number and its size. dfrs_bits_wrong() looks. */
#define DFRS_BITS_SIZE 1
#define DFRS_BITS_OVERHEAD 2

static inline uint32_t dfrs_words(const bitstr_t *bits)
{
	return (uint32_t) ((bits[DFRS_BITS_SIZE] + 63) / 64);
}

/* Bits behind the end, which some of Slurm's operations leave set, are 0. */
static inline uint64_t dfrs_word(const bitstr_t *bits, uint32_t word)
{
	uint64_t value = (uint64_t) bits[DFRS_BITS_OVERHEAD + word];
	int64_t left = bits[DFRS_BITS_SIZE] - (int64_t) word * 64;

	return (left < 64) ? value & ((UINT64_C(1) << left) - 1) : value;
}

/* The first set bit from `from` on; -1: there is none. */
static inline int dfrs_next_bit(const bitstr_t *bits, int from)
{
	uint32_t words = dfrs_words(bits);

	for (uint32_t word = (uint32_t) from / 64; word < words; word++) {
		uint64_t value = dfrs_word(bits, word);

		if (word == (uint32_t) from / 64)
			value &= ~UINT64_C(0) << (from % 64);
		if (value)
			return (int) (word * 64) + __builtin_ctzll(value);
	}
	return -1;
}

#define DFRS_FOR_EACH_BIT(bit, bits) \
	for (int bit = dfrs_next_bit((bits), 0); bit >= 0; bit = dfrs_next_bit((bits), bit + 1))

/* Whether this slurmctld's bit strings are laid out otherwise. */
static inline bool dfrs_bits_wrong(void)
{
	bitstr_t *bits = bit_alloc(70);
	bool wrong;

	bit_set(bits, 3);
	bit_set(bits, 69);
	wrong = (bits[DFRS_BITS_SIZE] != 70) || (dfrs_word(bits, 0) != 8) || (dfrs_word(bits, 1) != 32);
	FREE_NULL_BITMAP(bits);
	return wrong;
}

#endif
