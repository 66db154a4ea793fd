/** The process: its arguments to the program, the program's answer to its exit code. */
import { runProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

process.exit(await runProgram(process.argv.slice(2), processTerminal()));
