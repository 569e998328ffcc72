/* SPDX-License-Identifier: BSD-2-Clause */
/* The writer against expected texts, and against python3's reader with random values. */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"

static int to_buf(void *data, const void *bytes, size_t count)
{
	return buf_add(data, bytes, count);
}

static void expect_text(struct json *json, struct buf *out, const char *wanted)
{
	assert_int_equal(json_done(json), 0);
	assert_string_equal(buf_text(out), wanted);
	buf_done(out);
}

static void nests_and_separates(void **state)
{
	struct buf out = BUF_INIT;
	struct json json;

	json_init(&json, to_buf, &out);
	json_object_begin(&json);
	json_member_uint(&json, "a", 1);
	json_key(&json, "b");
	json_array_begin(&json);
	json_int(&json, -1);
	json_object_begin(&json);
	json_object_end(&json);
	json_array_begin(&json);
	json_array_end(&json);
	json_bool(&json, true);
	json_none(&json);
	json_array_end(&json);
	json_member_string(&json, "c", NULL);
	json_object_end(&json);
	expect_text(&json, &out, "{\"a\": 1, \"b\": [-1, {}, [], true, null], \"c\": null}\n");
}

static void puts_members_on_lines(void **state)
{
	struct buf out = BUF_INIT;
	struct json json;

	json_init(&json, to_buf, &out);
	json.lines = 2;
	json_object_begin(&json);
	json_key(&json, "a");
	json_array_begin(&json);
	json_object_begin(&json);
	json_member_bool(&json, "b", false);
	json_member_bool(&json, "c", true);
	json_object_end(&json);
	json_uint(&json, 2);
	json_array_end(&json);
	json_key(&json, "d");
	json_array_begin(&json);
	json_array_end(&json);
	json_object_end(&json);
	expect_text(&json, &out, "{\n \"a\": [\n  {\"b\": false, \"c\": true},\n  2\n ],\n \"d\": []\n}\n");
}

static void escapes(void **state)
{
	static const struct {
		const char *bytes;
		size_t count;
		const char *wanted;
	} cases[] = {
		{ "", 0, "\"\"" },
		{ "a\"\\/b", 5, "\"a\\\"\\\\/b\"" },
		{ "\n\t\r\033\177", 5, "\"\\n\\t\\u000d\\u001b\\u007f\"" },
		{ "a\0b", 3, "\"a\\u0000b\"" },
		{ "\xc2\x9b", 2, "\"\\u009b\"" },
		{ "\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\x9c", 12, "\"\\u202e\\u2066\\u2028\xe2\x80\x9c\"" },
		{ "\xff", 1, "{\"b64\": \"/w==\"}" },
		{ "ab\xff", 3, "{\"b64\": \"YWL/\"}" },
		{ "a\xff", 2, "{\"b64\": \"Yf8=\"}" },
		{ "\xc0\x80", 2, "{\"b64\": \"wIA=\"}" }, /* longer than needed */
		{ "\xe0\x80\xaf", 3, "{\"b64\": \"4ICv\"}" },
		{ "\xed\xa0\x80", 3, "{\"b64\": \"7aCA\"}" }, /* half a pair */
		{ "\xf4\x90\x80\x80", 4, "{\"b64\": \"9JCAgA==\"}" }, /* beyond U+10FFFF */
		{ "\xe2\x82", 2, "{\"b64\": \"4oI=\"}" }, /* cut */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf out = BUF_INIT;
		struct json json;

		json_init(&json, to_buf, &out);
		json_bytes(&json, cases[i].bytes, cases[i].count);
		assert_int_equal(json_done(&json), 0);
		(void)buf_text(&out);
		assert_int_equal(out.data[out.bytes - 1], '\n');
		out.bytes--;
		assert_string_equal(buf_text(&out), cases[i].wanted);
		buf_done(&out);
	}
}

static void writes_numbers(void **state)
{
	struct buf out = BUF_INIT;
	struct json json;

	json_init(&json, to_buf, &out);
	json_array_begin(&json);
	json_uint(&json, UINT64_MAX);
	json_int(&json, INT64_MIN);
	json_hex(&json, 0x7f12u);
	json_hex(&json, 0);
	json_double(&json, 0);
	json_double(&json, 0.1);
	json_double(&json, 1e300);
	json_double(&json, (double)NAN);
	json_double(&json, -(double)INFINITY);
	json_printf(&json, "%d-%s", 5, "x");
	json_array_end(&json);
	expect_text(&json, &out,
		    "[18446744073709551615, -9223372036854775808, \"0x7f12\", \"0x0\", 0, 0.1, 1e+300, null, null, "
		    "\"5-x\"]\n");
}

static int refuse(void *data, const void *bytes, size_t count)
{
	(*(int *)data)++;
	return -ENOSPC;
}

static void a_failure_is_told_once_and_stays(void **state)
{
	struct json json;
	int times = 0;

	json_init(&json, refuse, &times);
	json_array_begin(&json);
	for (int i = 0; i < 100000; i++)
		json_int(&json, i);
	assert_true(json.buf.room < 65536);
	json_array_end(&json);
	assert_int_equal(json_done(&json), -ENOSPC);
	assert_int_equal(times, 1);
}

static void writes_to_a_file_in_pieces(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	struct json json;

	assert_non_null(file);
	json_init_file(&json, file);
	json_array_begin(&json);
	for (int i = 0; i < 50000; i++)
		json_int(&json, 7);
	assert_true(json.buf.room < 65536);
	json_array_end(&json);
	assert_int_equal(json_done(&json), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(bytes, 50000 * 3 - 2 + 2 + 1);
	free(text);
	file = fopen("/dev/full", "w");
	if (!file)
		skip_part("no /dev/full here");
	setvbuf(file, NULL, _IONBF, 0);
	json_init_file(&json, file);
	json_none(&json);
	assert_int_equal(json_done(&json), -ENOSPC);
	(void)fclose(file);
}

static void value_without_key(struct json *json)
{
	json_object_begin(json);
	json_none(json);
}

static void key_in_array(struct json *json)
{
	json_array_begin(json);
	json_key(json, "a");
}

static void key_without_value(struct json *json)
{
	json_object_begin(json);
	json_key(json, "a");
	json_object_end(json);
}

static void wrong_end(struct json *json)
{
	json_object_begin(json);
	json_array_end(json);
}

static void second_value(struct json *json)
{
	json_none(json);
	json_none(json);
}

static void end_too_soon(struct json *json)
{
	json_array_begin(json);
	(void)json_done(json);
}

static void nothing(struct json *json)
{
	(void)json_done(json);
}

static void too_deep(struct json *json)
{
	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		json_array_begin(json);
}

static void misuse_is_asserted(void **state)
{
	static void (*const cases[])(struct json *) = { value_without_key, key_in_array, key_without_value, wrong_end,
							second_value,	   end_too_soon, nothing,	    too_deep };

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0) {
			struct buf out = BUF_INIT;
			struct json json;

			(void)signal(SIGABRT, SIG_DFL);
			(void)close(STDERR_FILENO);
			json_init(&json, to_buf, &out);
			cases[i](&json);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
			fail_msg("case %zu was not asserted", i);
	}
}

/* xorshift: the same values every time. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Doubles and byte strings go out twice: through the writer, and as hex
 * digits of their bytes. */
static void random_values(struct json *json, uint64_t *seed)
{
	json_array_begin(json);
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t bits = next_random(seed);
		char bytes[24], hex[2 * sizeof bytes + 1] = "";
		size_t count = bits % sizeof bytes;
		double number;

		memcpy(&number, &bits, sizeof number);
		for (size_t k = 0; k < count; k++) {
			uint64_t r = next_random(seed);

			/* Mostly text, so that UTF-8 is not too rare. */
			bytes[k] = (char)(r % 16 == 0 ? r >> 8 & 0xff : r >> 8 & 0x7f);
			(void)snprintf(hex + 2 * k, 3, "%02x", (unsigned char)bytes[k]);
		}
		json_object_begin(json);
		json_key(json, "bits");
		json_printf(json, "%016" PRIx64, bits);
		json_member_double(json, "double", number);
		json_member_uint(json, "uint", bits);
		json_member_int(json, "int", (int64_t)bits);
		json_key(json, "address");
		json_hex(json, bits);
		json_member_string(json, "hex", hex);
		json_key(json, "bytes");
		json_bytes(json, bytes, count);
		json_object_end(json);
	}
	json_array_end(json);
}

static void python_reads_the_same(void **state)
{
	static const char script[] =
		"import base64, json, math, struct, sys\n"
		"rows = json.load(sys.stdin)\n"
		"assert len(rows) == 4000\n"
		"for row in rows:\n"
		"    bits = int(row['bits'], 16)\n"
		"    number = struct.unpack('<d', struct.pack('<Q', bits))[0]\n"
		"    assert row['double'] == (number if math.isfinite(number) else None), row\n"
		"    assert row['uint'] == bits and row['int'] == bits - (bits >> 63 << 64), row\n"
		"    assert int(row['address'], 16) == bits, row\n"
		"    raw, said = bytes.fromhex(row['hex']), row['bytes']\n"
		"    try:\n"
		"        assert said == raw.decode('utf-8'), row\n"
		"    except UnicodeDecodeError:\n"
		"        assert list(said) == ['b64'] and base64.b64decode(said['b64'], validate=True) == raw, row\n";
	uint64_t seed = UINT64_C(0x243f6a8885a308d3);
	char command[sizeof script + 64];
	struct json json;
	FILE *python;

	if (system("python3 -c pass 2>/dev/null") != 0)
		skip_part("no python3 here");
	(void)snprintf(command, sizeof command, "python3 -c \"%s\"", script);
	python = popen(command, "w");
	assert_non_null(python);
	json_init_file(&json, python);
	json.lines = 1;
	random_values(&json, &seed);
	assert_int_equal(json_done(&json), 0);
	assert_int_equal(pclose(python), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nests_and_separates),
		cmocka_unit_test(puts_members_on_lines),
		cmocka_unit_test(escapes),
		cmocka_unit_test(writes_numbers),
		cmocka_unit_test(a_failure_is_told_once_and_stays),
		cmocka_unit_test(writes_to_a_file_in_pieces),
		cmocka_unit_test(misuse_is_asserted),
		cmocka_unit_test(python_reads_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
