/// How soon the daemon has a processor when somebody waits for its answer.
#pragma once

/// Called once by the daemon. All threads of this process, and what they start, get a processor at once from whoever has had it for a moment;
/// of the processors they get no more than before. sched_setattr(2), a slice of 0.1 ms, the least that the kernel takes (Linux 6.12; older
/// ones change nothing).
void clinux_answer_soon(void);

/// Ends that for the calling thread, and for what it starts from then on: a slice of the kernel's choice.
void clinux_answer_as_usual(void);
