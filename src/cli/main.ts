/** The process: its arguments to the program, the program's answer to its exit code. */
import { runProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

// Mail and keys are for the daemon's own user alone (security.md 4, UMask).
process.umask(0o077);
process.exit(await runProgram(process.argv.slice(2), processTerminal()));
