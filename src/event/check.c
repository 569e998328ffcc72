/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The check sum of blocks, CRC-32 as in zlib and Ethernet.  It is a remainder
 * of polynomials over one bit, so that 16 bytes can be moved any distance by two
 * multiplications without carry, where the CPU has them; the rest is a table's.
 */
#include <string.h>

#include "event/trace-code.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* The state after these bytes, eight at a time. */
static uint32_t by_table(uint32_t sum, const uint8_t *p, size_t bytes)
{
	static uint32_t table[8][256];

	if (table[0][1] == 0) {
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t value = i;

			for (int bit = 0; bit < 8; bit++)
				value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
			table[0][i] = value;
		}
		for (int step = 1; step < 8; step++)
			for (uint32_t i = 0; i < 256; i++)
				table[step][i] = table[step - 1][i] >> 8 ^ table[0][table[step - 1][i] & 0xff];
	}
	for (; bytes >= 8; bytes -= 8, p += 8) {
		uint32_t low, high;

		memcpy(&low, p, 4);
		memcpy(&high, p + 4, 4);
		low ^= sum;
		sum = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^
		      table[4][low >> 24] ^ table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^
		      table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
	}
	while (bytes-- > 0)
		sum = sum >> 8 ^ table[0][(sum ^ *p++) & 0xff];
	return sum;
}

#ifdef __x86_64__
#define BLOCK_BYTES 16
#define LANES 4

/* The powers of x by which the two halves of 16 bytes move on: by so many bits + 32 and - 32, modulo
 * the polynomial, the lowest power in the highest of 33 bits. */
#define BY_512 _mm_set_epi64x(0x1c6e41596, 0x154442bd4)
#define BY_128 _mm_set_epi64x(0x0ccaa009e, 0x1751997d0)

__attribute__((target("pclmul"))) static __m128i move_on(__m128i at, __m128i by)
{
	return _mm_xor_si128(_mm_clmulepi64_si128(at, by, 0x00), _mm_clmulepi64_si128(at, by, 0x11));
}

static __m128i load(const uint8_t *p)
{
	return _mm_loadu_si128((const void *)p);
}

/* At least LANES blocks; what is left of the bytes is for the table. */
__attribute__((target("pclmul"))) static uint32_t by_blocks(uint32_t sum, const uint8_t **at, size_t *bytes)
{
	const uint8_t *p = *at, *end = p + *bytes / BLOCK_BYTES * BLOCK_BYTES;
	uint8_t last[BLOCK_BYTES];
	__m128i lane[LANES], all;

	for (unsigned i = 0; i < LANES; i++, p += BLOCK_BYTES)
		lane[i] = load(p);
	lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128((int)sum));
	for (; (size_t)(end - p) >= sizeof lane; p += sizeof lane)
		for (unsigned i = 0; i < LANES; i++)
			lane[i] = _mm_xor_si128(move_on(lane[i], BY_512), load(p + i * BLOCK_BYTES));
	all = lane[0];
	for (unsigned i = 1; i < LANES; i++)
		all = _mm_xor_si128(move_on(all, BY_128), lane[i]);
	for (; p < end; p += BLOCK_BYTES)
		all = _mm_xor_si128(move_on(all, BY_128), load(p));
	*bytes -= (size_t)(p - *at);
	*at = p;
	/* These leave the same remainder as all that were read. */
	memcpy(last, &all, sizeof last);
	return by_table(0, last, sizeof last);
}
#endif

uint32_t trace_check(const void *data, size_t bytes)
{
	const uint8_t *p = data;
	uint32_t sum = ~0u;

#ifdef __x86_64__
	if (bytes >= (size_t)BLOCK_BYTES * LANES && __builtin_cpu_supports("pclmul"))
		sum = by_blocks(sum, &p, &bytes);
#endif
	return ~by_table(sum, p, bytes);
}
