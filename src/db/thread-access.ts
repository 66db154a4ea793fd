/**
 * A database as a part of the daemon in a thread of its own uses it: with its own reading connection, and with a port to
 * the writer thread, whose transactions therefore hold the writes of all threads. A write is answered after its COMMIT
 * has returned, as on the main thread.
 */
import type { MessagePort } from 'node:worker_threads';
import type { System } from '../system/system.ts';
import { type Access, writesTo } from './access.ts';
import { openReading } from './connection.ts';
import { kyselyOn } from './dialect.ts';
import { SharedLoad } from './shared-load.ts';
import { ThreadDatabase } from './thread-database.ts';
import type { ThreadReply } from './thread-messages.ts';

/** Value that crosses to the thread. The port is transferred. `load` is the memory of a SharedLoad. */
export type ThreadConnection = { file: string; port: MessagePort; load: SharedArrayBuffer };

type DatabaseFromThread<Schema> = Access<Schema> & {
  /** Waits for earlier writes, and closes both connections. Later writes are refused. */
  close(): Promise<void>;
};

/**
 * Opens a database with the connection that `Database.connectThread` has returned on the main thread.
 * @throws Error of SQLite
 */
export function openFromThread<Schema>(
  { clock, log }: Pick<System, 'clock' | 'log'>,
  { file, port, load }: ThreadConnection,
): DatabaseFromThread<Schema> {
  const connection = openReading(file);
  let answeredAt = 0;
  const writer = new ThreadDatabase(
    {
      clock,
      post: (message, transfer = []) => port.postMessage(message, [...transfer]),
      get answeredAt() {
        return answeredAt;
      },
      load: new SharedLoad(load),
      forget: () => {},
    },
    // The port leads to one database, so the number is not read.
    0,
  );
  port.on('message', (reply: ThreadReply) => {
    answeredAt = clock.elapsed();
    writer.receive(reply);
  });
  port.once('close', () => writer.fail(new Error('the writer thread has closed the database')));
  return {
    ...writesTo<Schema>(writer, log),
    read: kyselyOn<Schema>(connection),
    async close() {
      await writer.leave();
      port.close();
      connection.close();
    },
  };
}
