/* What every program does at its start and when a signal ends it. */
#ifndef SC_PROCESS_H
#define SC_PROCESS_H

/* Opens those of descriptors 0, 1 and 2 that are closed, so that no other file takes their numbers
 * and gets what is meant for them.  Reading from the first and writing to the second fails then, as
 * with closed ones; messages are lost.  To be called before anything is opened. */
void process_open_streams(void);

/* Catches the signals that end a process: it leaves no temporary files and no child behind, and
 * ends by the signal.  A signal that comes while several outputs are put in place waits until
 * process_check_stopped.  SIGBUS for an input that was truncated while it was in use (mapped.h)
 * ends the program with a message and status 1. */
void process_catch_signals(const char *program);

/* Has a function called before the process ends so; it may do what a signal handler may. */
void process_at_end(void (*function)(void));

/* Ends the process by a signal that was put off. */
void process_check_stopped(void);

/* Has another function called for the signals that end a process.  What was ignored when the
 * program started stays ignored (nohup). */
void process_on_signal(void (*handler)(int signal_number));

/* Signals that are caught get their usual effect again: in a child, before it runs another program.
 */
void process_default_signals(void);

/* Ends the process by the signal, in its handler or anywhere else. */
void process_end_by(int signal_number);

#endif
