/*
 * txreport.h - aborted transactions, and what to do about them: as text or JSON.
 *
 * In       counts of transactions (profile/diff/txcounts), aborts (profile/memory/aborts, with names), or one of them
 * Out      shares; causes; sites, each with its critical section and the ways into it; advice in sentences
 * Owns     nothing
 */
#ifndef PACE_VIEW_TXREPORT_H
#define PACE_VIEW_TXREPORT_H

#include "base/out.h"
#include "profile/memory/aborts.h"
#include "profile/diff/txcounts.h"
#include "view/forms/forms.h"

struct txreport_found {
	const struct txcounts *counts; /* NULL: nothing was counted */
	const struct aborts *aborts;   /* NULL: no aborts were sampled */
};

struct txreport_options {
	u64 max_sites, max_paths; /* 0: all */
};

/* Sentences, the most important first; the caller frees each and the list. */
typedef VEC(char *) txreport_sentences;
void txreport_advise(const struct txreport_found *found, txreport_sentences *ret);
void txreport_sentences_fini(txreport_sentences *s);

void txreport_text_counts(struct out *out, const struct txcounts *c);
void txreport_text_causes(struct out *out, const struct aborts *a);
void txreport_text_sites(struct out *out, const struct aborts *a, const struct txreport_options *o);
void txreport_text_advice(struct out *out, const struct txreport_found *found);

void txreport_rows(const struct form *form, struct out *out, const struct txreport_found *found,
	const struct txreport_options *o);

/* "function+0x12 (file.c:12)", "0x401136 in file" */
void txreport_add_place(const struct aborts_place *p, struct str *text);

#endif
