/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of .syscull.conf on any bytes: it is taken, or there is one line
 * that says where it is wrong; what it took can be used.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static int take(void *data, const char *key, const char *value, struct error *err)
{
	(void)err;
	*(size_t *)data += 1;
	must(*key && *value);
	return 0;
}

static void use(const struct conf *conf)
{
	char exe[] = "/usr/bin/ls", place[] = "/srv/data/", module[] = "/lib/libc.so.6";
	struct finding_site site = { .module = module, .offset = 0x49, .count = 3 };

	for (size_t i = 0; i < conf->suppressions.entries.used; i++) {
		const struct suppress_entry *entry = &conf->suppressions.entries.at[i];
		struct finding finding = { .rule = entry->rule, .exe = exe, .place = place, .calls = 3 };

		must(entry->rule && entry->reason && *entry->reason && entry->line > 0);
		finding.sites.at = &site;
		finding.sites.used = 1;
		(void)suppress_matches(entry, &finding);
	}
	for (size_t i = 0; i < conf->settings.items.used; i++) {
		const struct setting *setting = &conf->settings.items.at[i];

		if (setting->limit == SETTING_FLOOR)
			must(setting->share >= 0 && setting->share <= 1);
		else
			must(settings_limit(&conf->settings, setting->rule, setting->limit) == setting->value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t budgets = 0;
	struct conf conf = { .budget = take, .data = &budgets };
	struct error err = { 0 };

	if (conf_parse(&conf, "f", (const char *)data, size, &err) == 0)
		use(&conf);
	else
		must(err.code > 0 && strncmp(err.text, "f:", 2) == 0 && !strchr(err.text, '\n'));
	conf_done(&conf);
	return 0;
}
