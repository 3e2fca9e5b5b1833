/*
 * gating.h - the verdict on a program beside another: slower, faster, or no difference that can be told from noise.
 *
 * Runs of both are measured in rounds, one after the other. Two questions are asked, each with half of the rate of
 * error that is allowed: whether the whole takes longer (profile/maths/signflip over the rounds), and which functions
 * do (profile/diff/significance over the recordings). If the whole does, its half passes on to the functions.
 *
 * How many rounds it takes may be left to the noise: gating_is_enough() looks at the whole once after the first ones,
 * with a part of its rate of error, and from then on only at how far the rounds' differences are from zero, not on
 * which side. All signs stay equally likely then, so the test of signs stays exact.
 *
 * The odd rounds of the baseline beside its even ones are a
 * comparison of equal programs, made anew each time: where such ones have differed before on this machine, the
 * functions must differ by more.
 * In       what each round took; a comparison of the recordings; earlier comparisons of equal programs
 * Out      the verdict, and the functions that it rests on
 * Owns     the list of functions
 * Units    ns, or events; shares from 0 to 1
 */
#ifndef PACE_PROFILE_GATING_H
#define PACE_PROFILE_GATING_H

#include "profile/diff/significance.h"
#include "profile/maths/signflip.h"

struct gating_options {
	double error; /* of the verdict: how often equal programs may be called different */
	double least; /* share of the whole that a difference has to be */
	double find; /* share of the whole that nine of ten gates are to find; 0: as many rounds as it is told */
};

enum gating_verdict { GATING_SAME, GATING_SLOWER, GATING_FASTER };

/* A function that differs. */
struct gating_function {
	size_t row; /* of the delta */
	double more; /* what it takes more than before, as a share of the baseline's whole; negative: less */
};

struct gating {
	struct gating_options options;
	size_t n;              /* rounds */
	double before, after;  /* mean of the rounds */
	struct signflip whole; /* of logarithms: after divided by before */
	bool is_whole_slower, is_whole_faster;
	double threshold;                      /* that a function's q must not exceed */
	VEC(struct gating_function) functions; /* the largest differences first */
	double detectable; /* a change of the whole that nine of ten such gates would find, as a share */
};

/*
 * Whether n rounds tell what is asked (options->find). Call it after each round from the first look on, which is_first
 * says, and no further once it says so.
 */
bool gating_is_enough(const struct gating_options *o, const double *before, const double *after,
	size_t n, bool is_first);

/*
 * Divides each recording by how much most of its functions changed, if that makes runs of one side more alike: on a
 * busy machine it does, on a quiet one it only adds noise.
 */
void gating_level(struct delta *d);

/* The least q of any row of a comparison; 1 if none was tested. */
double gating_least_q(const struct significance *j);

/*
 * The q that functions must not exceed. nulls: n values of gating_least_q() of comparisons of equal programs; they are
 * sorted.
 */
double gating_threshold(const struct gating_options *o, double *nulls, size_t n);

/* n rounds; j: of one event of their recordings, the baseline on side A. */
void gating_init(struct gating *g, const struct gating_options *o, const double *before,
	const double *after, size_t n, const struct significance *j, double threshold);
void gating_fini(struct gating *g);

/* Slower if the whole is, or a function while the whole is not faster. */
enum gating_verdict gating_verdict(const struct gating *g);

#endif
