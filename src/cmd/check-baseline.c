/* SPDX-License-Identifier: BSD-2-Clause */
/* The baseline of a check: read before the command runs, judged after it, and
 * written when that was asked for and the run is one to go by. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/check.h"
#include "report/redact.h"

int check_baseline_begin(struct check_settings *s, struct check *check, struct error *err)
{
	struct check_baseline *baseline = &s->baseline;
	struct error why = { 0 };
	int r;

	if (!baseline->path && (baseline->update || baseline->prune))
		return error_set(err, EINVAL, "--%s-baseline goes with --baseline FILE",
				 baseline->update ? "update" : "prune");
	if (!baseline->path)
		return 0;
	if (s->sizes.count > 0)
		return error_set(err, EINVAL, "--baseline does not go with --per-item");
	check->baseline = &baseline->report;
	baseline->report.file = baseline->path;
	r = buf_read_file(&baseline->text, AT_FDCWD, baseline->path, BASELINE_BYTES_MAX);
	if (r == 0)
		r = baseline_parse(&baseline->known, baseline->path, baseline->text.data ? baseline->text.data : "",
				   baseline->text.bytes, &why);
	else if (r == -EFBIG)
		(void)error_set(&why, EFBIG, "the baseline %s has more than %d MiB", baseline->path,
				BASELINE_BYTES_MAX >> 20);
	else
		(void)error_errno(&why, -r, "the baseline %s", baseline->path);
	baseline->report.read = r == 0;
	/* One of ours that does not fit any more is made again; what is not ours stays. */
	baseline->absent = r == -ENOENT || r == -EPROTO;
	if (r == 0 || (baseline->absent && baseline->update))
		return 0;
	if (r == -ENOENT)
		return check_add_reason(check, CHECK_CANNOT_JUDGE, "%s; --update-baseline makes it", why.text);
	return check_add_reason(check, CHECK_CANNOT_JUDGE, "%s", why.text);
}

static int tell(struct check *check, const struct baseline_change *change)
{
	const char *verb = change->before > 0 ? "has grown since the baseline" : "is new since the baseline";
	char before[TEXT_NUMBER_MAX], after[TEXT_NUMBER_MAX];
	struct buf program = BUF_INIT;
	int r;

	(void)text_count(change->before, before);
	(void)text_count(change->after, after);
	if (change->kind == BASELINE_FINDING && change->exe) {
		(void)buf_puts(&program, " by ");
		(void)text_escape(&program, rule_base_name(change->exe), strlen(rule_base_name(change->exe)), '\0',
				  true);
	}
	r = check_add_reason(check, CHECK_FAILED, "%s%s%s %s: %s calls%s%s",
			     change->kind == BASELINE_FINDING ? "the finding " : "", change->name, buf_text(&program),
			     verb, after, change->before > 0 ? ", there " : "", change->before > 0 ? before : "");
	buf_done(&program);
	return r;
}

int check_baseline_judge(struct check_settings *s, const struct check_run *run, struct check *check)
{
	struct check_baseline *baseline = &s->baseline;
	struct baseline_report *report = &baseline->report;
	struct error why = { 0 };
	int r = 0;

	if (!report->read || !run->analysis)
		return 0;
	if (baseline_compare(&baseline->known, analysis_result(run->analysis), &report->changes, &why) < 0)
		return check_add_reason(check, CHECK_CANNOT_JUDGE, "%s", why.text);
	/* What is taken in is told, and is no failure. */
	for (size_t i = 0; i < report->changes.items.used && r == 0; i++)
		if (!baseline->update)
			r = tell(check, &report->changes.items.at[i]);
	return r;
}

/* This run as a report that can be committed. */
static int make_report(const struct check_run *run, struct buf *ret, struct error *err)
{
	struct redacted *redacted = redact_result(analysis_result(run->analysis), REDACT_BASELINE);
	const struct report_options options = { 0 };
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = redacted ? open_memstream(&text, &bytes) : NULL;
	int r = -ENOMEM;

	if (stream) {
		r = reporter_by_name("json")->write(stream, redacted_result(redacted), &options);
		if (fclose(stream) != 0 && r == 0)
			r = -ENOMEM;
		if (r == 0)
			r = buf_add(ret, text, bytes);
		free(text);
	}
	redacted_free(redacted);
	return r < 0 ? error_errno(err, -r, "making the baseline") : 0;
}

static int write_file(const char *path, const struct buf *text, struct error *err)
{
	struct output output = OUTPUT_INIT;
	int r = output_open(&output, path, err);

	if (r == 0 && fwrite(text->data, 1, text->bytes, output_stream(&output)) != text->bytes)
		r = error_errno(err, errno ? errno : EIO, "%s", path);
	if (r == 0)
		r = output_close(&output, err);
	output_discard(&output);
	return r;
}

int check_baseline_write(struct check_settings *s, const struct check_run *run, const struct check *check,
			 struct error *err)
{
	struct check_baseline *baseline = &s->baseline;
	struct buf now = BUF_INIT, merged = BUF_INIT;
	bool both = baseline->update && baseline->prune;
	enum baseline_merge how = baseline->update ? BASELINE_RAISE : BASELINE_LOWER;
	int r;

	if (!baseline->update && !baseline->prune)
		return 0;
	if (!run->analysis || run->exit != 0 || run->failed || check->unjudged) {
		log_line("%s is left as it is: this run is none to go by", baseline->path);
		return 0;
	}
	r = make_report(run, &now, err);
	if (r == 0 && baseline->report.read && !both)
		r = baseline_merge(how, baseline->path, &baseline->text, &now, &merged, err);
	if (r == 0)
		r = write_file(baseline->path, merged.bytes > 0 ? &merged : &now, err);
	baseline->report.written = r == 0;
	buf_done(&now);
	buf_done(&merged);
	return r;
}

void check_baseline_done(struct check_baseline *baseline)
{
	baseline_done(&baseline->known);
	baseline_changes_done(&baseline->report.changes);
	buf_done(&baseline->text);
}
