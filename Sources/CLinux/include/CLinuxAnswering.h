/// How soon the daemon has a processor when somebody waits for its answer.
#pragma once

/// Gives all threads of this process, and the processes that they start, a slice of 0.1 ms by sched_setattr(2). That is the shortest slice that
/// the kernel accepts. They get a processor sooner, and no larger share of it. The daemon calls it once. It has no effect before Linux 6.12.
void clinux_answer_soon(void);

/// Ends that for the calling thread, and for what it starts from then on: a slice of the kernel's choice.
void clinux_answer_as_usual(void);
