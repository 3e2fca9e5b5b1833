/* spin.h - a loop of two instructions an iteration, whatever the compiler thinks of it. */
#ifndef SPIN_H
#define SPIN_H

/* Executes 2 * iterations + 5 instructions, in user space only; iterations > 0. */
void spin(unsigned long iterations);

#endif
