/** Clients of one account that cause a load, in a process of their own with a low priority. Prints one line of JSON. */
import { setPriority } from 'node:os';
import { ImapConnection, type ImapUser } from './client.ts';
import { TEXT_WORD } from './messages.ts';
import { FOLDER } from './system.ts';

export type ImapLoad = {
  port: number;
  user: ImapUser;
  /** Number of clients that fetch the whole mailbox, once. */
  downloads: number;
  /** Number of clients that connect, log in and select their mailbox, and then stay. */
  reconnects: number;
  connectingAtOnce: number;
  /** Number of addresses of this machine that they come from. */
  addresses: number;
};

/** Counts and times of the load, by the names under which the bench prints them. */
export type ImapLoadResult = {
  'seconds for reconnects': number;
  'seconds for downloads': number;
  'downloaded, MiB': number;
  searches: number;
  'longest search, ms': number;
};

const LOWEST_PRIORITY = 19;
const MS_PER_SECOND = 1_000;
const BYTES_PER_MIB = 1_048_576;

setPriority(LOWEST_PRIORITY);
const load = JSON.parse(process.argv[2] ?? '') as ImapLoad;
const startedAt = performance.now();
const seconds = () => (performance.now() - startedAt) / MS_PER_SECOND;

let isLoaded = false;
const searching = search();
const [downloaded, reconnected] = await Promise.all([download(), reconnect()]);
isLoaded = true;
const searches = await searching;
const result: ImapLoadResult = {
  'seconds for reconnects': reconnected,
  'seconds for downloads': downloaded.seconds,
  'downloaded, MiB': downloaded.bytes / BYTES_PER_MIB,
  searches: searches.length,
  'longest search, ms': Math.max(...searches),
};
console.log(JSON.stringify(result));
process.exit(0);

/** Searches again and again. Returns the times. */
async function search(): Promise<number[]> {
  const connection = await select();
  const times: number[] = [];
  while (!isLoaded) times.push((await connection.run(`SEARCH TEXT ${TEXT_WORD}`)).ms);
  connection.close();
  return times;
}

async function download(): Promise<{ seconds: number; bytes: number }> {
  const sizes = await Promise.all(
    Array.from({ length: load.downloads }, async () => {
      const connection = await select();
      const { bytes } = await connection.run('FETCH 1:* BODY.PEEK[]');
      connection.close();
      return bytes;
    }),
  );
  return { seconds: seconds(), bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function reconnect(): Promise<number> {
  let begun = 0;
  const connectAgain = async () => {
    while (begun < load.reconnects) {
      const number = begun++;
      await select(`127.0.1.${(number % load.addresses) + 1}`);
    }
  };
  await Promise.all(Array.from({ length: load.connectingAtOnce }, connectAgain));
  return seconds();
}

async function select(localAddress?: string): Promise<ImapConnection> {
  const connection = await ImapConnection.login(load.port, load.user, localAddress);
  await connection.run(`SELECT ${FOLDER}`);
  return connection;
}
