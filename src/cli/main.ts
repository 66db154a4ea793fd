/** The entry point of the process: runs the program with its arguments, and exits with the program's exit code. */
import { runProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

// Mail and keys are readable only by the user that the daemon runs as.
process.umask(0o077);
process.exit(await runProgram(process.argv.slice(2), processTerminal()));
