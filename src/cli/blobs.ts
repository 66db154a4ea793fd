/** The commands `postrider blobs` work on the files of large messages. */
import type { Command } from 'commander';
import type { Swept } from '../blobs/sweep.ts';
import { requestAction } from './context.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addBlobCommands(program: Command, terminal: Terminal): void {
  const blobs = program
    .command('blobs')
    .description('Manage the files of large messages in the data directory.');
  blobs
    .command('sweep')
    .description(
      'Move every file that no message names to blobs/trash, however many there are. Use it only when the database is the right one.',
    )
    .action(
      requestAction<Swept>(terminal, {
        request: 'POST /blobs/sweep',
        text: ({ moved }) => `${moved} files moved to blobs/trash, where they are kept for a week`,
      }),
    );
}
