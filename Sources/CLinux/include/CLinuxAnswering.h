/// How soon the daemon has a processor when somebody waits for its answer.
#pragma once

/// Called once by the daemon. All threads of this process, and what they start, get a processor at once from whoever has had it for a moment;
/// of the processors they get no more than before. sched_setattr(2), a slice of 0.1 ms, the least that the kernel takes (Linux 6.12; older
/// ones change nothing). From then on threads may go first, see below: a limit of the process's says how long (RLIMIT_RTTIME, 20 ms), and
/// SIGXCPU is taken.
void clinux_answer_soon(void);

/// The calling thread goes before every ordinary one on the processors: SCHED_RR at its lowest priority (sched(7)). After 20 ms without a wait
/// all that went first are ordinary again for a second, so that a flood of requests, each some 0.1 ms of work, takes no more than 3 of 100 of
/// the processors before others. What the thread starts is ordinary, with a slice of the kernel's choice.
///
/// Called for each request, since it mostly costs nothing, by threads that live as long as the process. Nothing changes before
/// `clinux_answer_soon`, nor where the process may not: it is not root's and has no RLIMIT_RTPRIO, or its control group of version 1 has no
/// real time.
void clinux_answer_first(void);

/// Ends that for this process, which has one thread: a slice of the kernel's choice and, where it descends from who called `clinux_answer_soon`,
/// no limit of its time as one of real time, and no right to such time but root's.
void clinux_answer_as_usual(void);
