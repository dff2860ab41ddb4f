/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings: typed values from the environment, strict, with one sentence for each that is bad.
 *
 * Limits: no malloc, no stdio, no locale; texts live in one static pool of 32 KiB. An empty value
 * counts as not set, as it did in VampirTrace. Of a name that stands twice in the environment the
 * first one counts, as in getenv.
 */
#include "lib/common/settings.h"

#include "launchers/job.h"
#include "lib/common/settings_names.h"
#include "lib/common/text.h"

#include <string.h>

#define TEXT_MAX 4096  /* longest value, with its NUL */
#define POOL_MAX 32768 /* all texts together */
#define SHOWN_MAX 48   /* bytes of a bad value that a complaint shows */
#define SENTENCE_MAX 640

struct gt_settings gt_settings;

static char pool[POOL_MAX];
static size_t pool_used;

/* Why a value cannot be used; `detail` names the variable of REASON_UNSET. */
enum reason { OK = 0, REASON_VALUE, REASON_LONG, REASON_POOL, REASON_UNSET, REASON_BRACE };
struct failure {
	const char *detail;
	size_t length;
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(const char *value, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!value[i] || lower(value[i]) != lower(word[i]))
			return false;
	return !value[length];
}

static bool is_name_char(char c, bool first)
{
	return c == '_' || (lower(c) >= 'a' && lower(c) <= 'z') || (!first && c >= '0' && c <= '9');
}

/* The value of a variable (of `length` bytes) in envp, or NULL. */
static const char *look_up(char *const *envp, const char *name, size_t length)
{
	for (; envp && *envp; envp++)
		if (!strncmp(*envp, name, length) && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

/* ---- the types ------------------------------------------------------------------------------- */

static enum reason parse_bool(const char *value, bool *result)
{
	static const char words[] = "yes|true|on|1|no|false|off|0";
	const char *word = words;

	for (int i = 0; i < 8; i++) {
		size_t length = strcspn(word, "|");

		if (same_word(value, word, length)) {
			*result = i < 4;
			return OK;
		}
		word += length + 1;
	}
	return REASON_VALUE;
}

static enum reason parse_enum(const char *value, const char *words, int *result)
{
	for (int i = 0;; i++) {
		size_t length = strcspn(words, "|");

		if (same_word(value, words, length)) {
			*result = i;
			return OK;
		}
		if (!words[length])
			return REASON_VALUE;
		words += length + 1;
	}
}

/* Digits at *at as a number; moves *at behind them. False: no digit, or more than 64 bits. */
static bool parse_digits(const char **at, uint64_t *result)
{
	const char *c = *at;
	uint64_t sum = 0;

	if (*c < '0' || *c > '9')
		return false;
	for (; *c >= '0' && *c <= '9'; c++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*c - '0'), &sum))
			return false;
	*at = c;
	*result = sum;
	return true;
}

/* The default of a number that gputrace chooses. */
static bool is_word(const char *def)
{
	return lower(*def) >= 'a' && lower(*def) <= 'z';
}

static enum reason parse_number(const char *value, const struct gt_setting_row *row,
				int64_t *result)
{
	bool minus = *value == '-';
	uint64_t size;
	int64_t number;

	if (is_word(row->def) && same_word(value, row->def, strlen(row->def))) {
		*result = GT_SET_WORD;
		return OK;
	}
	value += minus;
	if (!parse_digits(&value, &size) || *value || size > INT64_MAX)
		return REASON_VALUE;
	number = minus ? -(int64_t)size : (int64_t)size;
	if (number < row->min || number > row->max)
		return REASON_VALUE;
	*result = number;
	return OK;
}

static enum reason parse_size(const char *value, const struct gt_setting_row *row,
			      uint64_t *result)
{
	uint64_t size;
	unsigned shift = 0;

	if (!parse_digits(&value, &size))
		return REASON_VALUE;
	switch (lower(*value)) {
	case 'k': shift = 10; break;
	case 'm': shift = 20; break;
	case 'g': shift = 30; break;
	case 't': shift = 40; break;
	}
	value += shift != 0;
	if (shift && lower(value[0]) == 'i' && lower(value[1]) == 'b')
		value++;
	if (lower(*value) == 'b')
		value++;
	if (*value || size > UINT64_MAX >> shift)
		return REASON_VALUE;
	size <<= shift;
	if (size < (uint64_t)row->min || size > (uint64_t)row->max)
		return REASON_VALUE;
	*result = size;
	return OK;
}

static enum reason append(char *text, size_t *used, const char *bytes, size_t length)
{
	if (length >= TEXT_MAX - *used)
		return REASON_LONG;
	memcpy(text + *used, bytes, length);
	*used += length;
	return OK;
}

/* One $NAME or ${NAME} at **at, appended to text; a lone '$' stays what it is. */
static enum reason expand_one(const char **at, char *text, size_t *used, char *const *envp,
			      struct failure *failure)
{
	const char *name = *at + 1;
	bool brace = *name == '{';
	size_t length = 0;
	const char *value;

	name += brace;
	while (is_name_char(name[length], !length))
		length++;
	if (brace && (!length || name[length] != '}'))
		return REASON_BRACE;
	if (!length) {
		*at = name;
		return append(text, used, "$", 1);
	}
	value = look_up(envp, name, length);
	if (!value) {
		failure->detail = name;
		failure->length = length;
		return REASON_UNSET;
	}
	*at = name + length + brace;
	return append(text, used, value, strnlen(value, TEXT_MAX));
}

static enum reason parse_text(const char *value, bool expand, char *const *envp,
			      const char **result, struct failure *failure)
{
	char text[TEXT_MAX];
	size_t used = 0;
	enum reason reason = OK;

	while (*value && !reason) {
		if (expand && *value == '$') {
			reason = expand_one(&value, text, &used, envp, failure);
		} else {
			reason = append(text, &used, value, 1);
			value++;
		}
	}
	if (reason)
		return reason;
	if (used >= POOL_MAX - pool_used)
		return REASON_POOL;
	memcpy(pool + pool_used, text, used);
	pool[pool_used + used] = '\0';
	*result = pool + pool_used;
	pool_used += used + 1;
	return OK;
}

static enum reason parse(const struct gt_setting_row *row, const char *value, char *const *envp,
			 struct failure *failure)
{
	void *field = (char *)&gt_settings + row->offset;

	switch (row->type) {
	case GT_SET_BOOL:
		return parse_bool(value, field);
	case GT_SET_NUMBER:
		return parse_number(value, row, field);
	case GT_SET_SIZE:
		return parse_size(value, row, field);
	case GT_SET_ENUM:
		return parse_enum(value, row->words, field);
	case GT_SET_PATH:
		return parse_text(value, true, envp, field, failure);
	case GT_SET_TEXT:
		return parse_text(value, false, envp, field, failure);
	}
	return REASON_VALUE;
}

/* Defaults do not pass through the pool: they must succeed even when it is full. */
static void set_default(const struct gt_setting_row *row)
{
	if (row->type == GT_SET_PATH || row->type == GT_SET_TEXT)
		*(const char **)((char *)&gt_settings + row->offset) = row->def;
	else
		parse(row, row->def, NULL, NULL);
}

/* ---- complaints ------------------------------------------------------------------------------ */

static void say_size(char *buffer, size_t room, uint64_t size)
{
	static const char *const suffixes[] = { "", "K", "M", "G", "T" };
	int suffix = 0;

	while (size && size % 1024 == 0 && suffix < 4) {
		size /= 1024;
		suffix++;
	}
	gt_text(buffer, room, "%lu%s", (unsigned long)size, suffixes[suffix]);
}

/* "a|b|c" as "a, b or c" */
static void say_words(char *buffer, size_t size, const char *words)
{
	size_t used = 0;

	for (; *words; words++)
		if (*words != '|')
			used += gt_text(buffer + used, size - used, "%c", *words);
		else
			used += gt_text(buffer + used, size - used, "%s",
					strchr(words + 1, '|') ? ", " : " or ");
}

static void say_accepted(char *buffer, size_t size, const struct gt_setting_row *row)
{
	char low[24], high[24];

	switch (row->type) {
	case GT_SET_NUMBER:
		gt_text(buffer, size, "%s%sa whole number from %ld to %ld",
			is_word(row->def) ? row->def : "", is_word(row->def) ? " or " : "", (long)row->min,
			(long)row->max);
		return;
	case GT_SET_SIZE:
		say_size(low, sizeof(low), (uint64_t)row->min);
		say_size(high, sizeof(high), (uint64_t)row->max);
		gt_text(buffer, size, "a number of bytes from %s to %s, like 512K, 16M or 2G", low,
			high);
		return;
	default:
		say_words(buffer, size, row->words);
	}
}

static void complain_of_value(const struct gt_setting_row *row, const char *name, const char *value,
			      enum reason reason, const struct failure *failure,
			      gt_settings_complaint *complain)
{
	char sentence[SENTENCE_MAX], shown[SHOWN_MAX], detail[SHOWN_MAX];
	char why[256] = "";

	gt_text_escape(shown, sizeof(shown), value, strnlen(value, SHOWN_MAX));
	switch (reason) {
	case REASON_LONG:
		gt_text(why, sizeof(why), "is too long (at most %d bytes)", TEXT_MAX - 1);
		break;
	case REASON_POOL:
		gt_text(why, sizeof(why), "is too long (at most %d bytes in all texts together)",
			POOL_MAX);
		break;
	case REASON_UNSET:
		gt_text_escape(detail, sizeof(detail), failure->detail, failure->length);
		gt_text(why, sizeof(why), "needs the variable %s, which is not set", detail);
		break;
	case REASON_BRACE:
		gt_text(why, sizeof(why),
			"is not accepted (a name and \"}\" must follow \"${\")");
		break;
	default:
		strcpy(why, "is not accepted (it must be ");
		say_accepted(why + strlen(why), sizeof(why) - strlen(why) - 1, row);
		strcat(why, ")");
	}
	gt_text(sentence, sizeof(sentence), "%s=\"%s\" %s; the default%s%s is used", name,
		shown, why, *row->def ? " " : "", row->def);
	complain(sentence);
}

static void complain_of_slip(const char *name, size_t length, const char *meant,
			     gt_settings_complaint *complain)
{
	char sentence[SENTENCE_MAX], shown[4 * GT_SETTING_NAME_MAX + 4];

	gt_text_escape(shown, sizeof(shown), name, length);
	gt_text(sentence, sizeof(sentence), "%s is not a setting of gputrace; did you mean %s?", shown,
		meant);
	complain(sentence);
}

static bool says_no(const char *value)
{
	return !*value || !strcmp(value, "0") || !strcmp(value, "no") || !strcmp(value, "off") ||
	       !strcmp(value, "false");
}

static void complain_of_vampirtrace(const char *name, size_t length, gt_settings_complaint *complain)
{
	char sentence[SENTENCE_MAX], shown[4 * GT_SETTING_NAME_MAX + 4];
	const char *lacks = gt_setting_name_lacks(name, length);

	gt_text_escape(shown, sizeof(shown), name, length);
	gt_text(sentence, sizeof(sentence), "%s is VampirTrace's and is ignored%s%s", shown,
		lacks ? ": gputrace has no " : "", lacks ? lacks : "");
	complain(sentence);
}

/* The first process of a run has said it for all. */
static bool is_first(char *const *envp)
{
	const char *rank = gt_job_rank(envp);

	return !gt_text_env(envp, "VT_RUN_DIR") && (!rank || !strcmp(rank, "0"));
}

/* Names each foreign variable once: slips always, VampirTrace's own that would do something once a run. */
static void check_names(char *const *envp, gt_settings_complaint *complain)
{
	bool first = is_first(envp);
	unsigned hints = 0;

	for (char *const *entry = envp; entry && *entry; entry++) {
		const char *name = *entry;
		size_t length;
		const char *meant = NULL;

		if (strncmp(name, "VT_", 3))
			continue;
		length = strnlen(name, GT_SETTING_NAME_MAX + 1);
		length = strcspn(name, "=") < length ? strcspn(name, "=") : length;
		if (length > GT_SETTING_NAME_MAX || look_up(envp, name, length) != name + length + 1)
			continue;
		switch (gt_setting_name_kind(name, length, &meant)) {
		case GT_NAME_NEAR:
			if (hints++ < 16)
				complain_of_slip(name, length, meant, complain);
			break;
		case GT_NAME_VAMPIRTRACE:
			if (first && !says_no(name + length + 1))
				complain_of_vampirtrace(name, length, complain);
			break;
		default:
			break;
		}
	}
}

static void load_row(const struct gt_setting_row *row, char *const *envp,
		     gt_settings_complaint *complain)
{
	const char *name = row->name, *value = look_up(envp, name, strlen(name));
	struct failure failure = { "", 0 };
	enum reason reason;

	set_default(row);
	if ((!value || !*value) && gt_setting_older_name(name)) {
		name = gt_setting_older_name(name);
		value = look_up(envp, name, strlen(name));
	}
	if (!value || !*value)
		return;
	reason = parse(row, value, envp, &failure);
	if (reason && complain)
		complain_of_value(row, name, value, reason, &failure, complain);
}

void gt_settings_load(char *const *envp, gt_settings_complaint *complain)
{
	pool_used = 0;
	/* VT_VERBOSE first: it decides whether the complaints about the others are heard. */
	for (size_t i = 0; i < gt_setting_count; i++)
		if (gt_setting_rows[i].offset == offsetof(struct gt_settings, verbose))
			load_row(&gt_setting_rows[i], envp, NULL);
	for (size_t i = 0; i < gt_setting_count; i++)
		load_row(&gt_setting_rows[i], envp, complain);
	if (complain)
		check_names(envp, complain);
}

const char *gt_settings_text(const struct gt_setting_row *row, char *buffer, size_t size)
{
	const char *field = row ? (const char *)&gt_settings + row->offset : NULL;
	const char *words;
	size_t length;

	if (size)
		buffer[0] = '\0';
	if (!row || !size)
		return buffer;
	switch (row->type) {
	case GT_SET_BOOL:
		gt_text(buffer, size, "%s", *(const bool *)field ? "yes" : "no");
		break;
	case GT_SET_NUMBER:
		if (is_word(row->def) && *(const int64_t *)field == GT_SET_WORD)
			gt_text(buffer, size, "%s", row->def);
		else
			gt_text(buffer, size, "%ld", (long)*(const int64_t *)field);
		break;
	case GT_SET_SIZE:
		gt_text(buffer, size, "%lu", (unsigned long)*(const uint64_t *)field);
		break;
	case GT_SET_ENUM:
		words = row->words;
		for (int i = *(const int *)field; i > 0; i--)
			words += strcspn(words, "|") + 1;
		length = strcspn(words, "|");
		length = length < size ? length : size - 1;
		memcpy(buffer, words, length);
		buffer[length] = '\0';
		break;
	case GT_SET_PATH:
	case GT_SET_TEXT:
		if (*(const char *const *)field)
			gt_text(buffer, size, "%s", *(const char *const *)field);
		break;
	}
	return buffer;
}
