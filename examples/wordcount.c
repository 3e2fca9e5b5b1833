/*
 * wordcount.c - a program with something to find: counts the words of a text it makes up.
 *
 * `make demo` records it. Where does its time go: hashing, comparing, sorting?
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 16 << 20, SLOTS = 1 << 14, WORD_MAX = 16 };

struct word {
	char text[WORD_MAX];
	unsigned count;
};

static struct word table[SLOTS];

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Short words are frequent, as in any language. */
static char *make_text(void)
{
	char *text = malloc(TEXT_BYTES + WORD_MAX + 1), *at = text;
	uint64_t state = 42;

	while (at < text + TEXT_BYTES) {
		unsigned length = 1 + (next_random(&state) & next_random(&state) & 7);

		while (length--)
			*at++ = 'a' + next_random(&state) % 7;
		*at++ = ' ';
	}
	*at = '\0';
	return text;
}

/* A hash that is worse than it looks: words of the same letters collide. */
static unsigned hash_word(const char *word, size_t n)
{
	unsigned hash = 0;

	for (size_t i = 0; i < n; i++)
		hash += (unsigned char)word[i] * 31 + (hash >> 9);
	return hash % SLOTS;
}

static int is_same(const struct word *w, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w->text[i] != word[i])
			return 0;
	return !w->text[n];
}

static struct word *find_word(const char *word, size_t n)
{
	unsigned slot = hash_word(word, n);

	while (table[slot].count && !is_same(&table[slot], word, n))
		slot = (slot + 1) % SLOTS;
	return &table[slot];
}

static void count_words(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, " ");
		struct word *w;

		if (n > 0 && n < 5) {
			w = find_word(text, n);
			memcpy(w->text, text, n);
			w->count++;
		}
		text += n + 1;
	}
}

static int is_before(const struct word *a, const struct word *b)
{
	return a->count != b->count ? a->count > b->count : strcmp(a->text, b->text) < 0;
}

static void merge_sort(struct word *words, struct word *spare, size_t n)
{
	size_t half = n / 2, i = 0, j = half;

	if (n < 2)
		return;
	merge_sort(words, spare, half);
	merge_sort(words + half, spare, n - half);
	memcpy(spare, words, n * sizeof(*words));
	for (size_t k = 0; k < n; k++)
		words[k] = j >= n || (i < half && is_before(&spare[i], &spare[j])) ? spare[i++]
										   : spare[j++];
}

int main(void)
{
	struct word *spare = malloc(sizeof(table));
	char *text = make_text();

	for (int pass = 0; pass < 3; pass++)
		count_words(text);
	merge_sort(table, spare, SLOTS);
	for (int i = 0; i < 3; i++)
		printf("%-8s %u\n", table[i].text, table[i].count);
	free(text);
	free(spare);
	return 0;
}
