/**
 * Fills audiences of a daemon that is not running, straight into the tables, which the daemon's own start has made: sent as
 * files, a million contacts would take a minute. Prints the ids of the audiences as a line of JSON when all is on disk.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { newId } from '../../../src/system/ids.ts';
import { RECIPIENT_DOMAIN } from '../message.ts';
import { CITIES, contactProperties } from '../million-rows.ts';

export type FillInput = {
  dataDir: string;
  audiences: readonly { tenantId: string; contacts: number }[];
  nowMs: number;
};

const { dataDir, audiences, nowMs } = JSON.parse(process.argv[2] ?? '') as FillInput;
const HOUR_MS = 3_600_000;
const database = new Sqlite(join(dataDir, 'postrider.db'));
// No power fails here.
database.pragma('synchronous = OFF');
database.pragma('foreign_keys = OFF');
database.pragma('cache_size = -262144');
database.exec('BEGIN');
const ids = audiences.map(({ tenantId, contacts }) => fill(tenantId, contacts));
database.exec('COMMIT');
database.pragma('wal_checkpoint(TRUNCATE)');
database.close();
console.log(JSON.stringify(ids));

function fill(tenantId: string, contacts: number): string {
  const audienceId = newId('aud', nowMs - HOUR_MS);
  database
    .prepare(
      'INSERT INTO audiences (id, tenantId, name, contactCount, createdAt, updatedAt) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(audienceId, tenantId, 'Everybody', contacts, nowMs, nowMs);
  const insert = database.prepare(
    `INSERT INTO contacts (id, tenantId, audienceId, email, address, firstName, lastName, unsubscribed, topics, properties,
       createdAt, updatedAt) VALUES (?, ?, ?, ?, ?, ?, ?, 0, '{}', ?, ?, ?)`,
  );
  for (let index = 0; index < contacts; index++) {
    const at = Math.floor(nowMs - HOUR_MS + (index * (HOUR_MS - 1_000)) / contacts);
    const address = `reader${index}@${RECIPIENT_DOMAIN}`;
    const lastName = CITIES[index % CITIES.length];
    const properties = JSON.stringify(contactProperties(index));
    insert.run(newId('ct', at), tenantId, audienceId, address, address, 'Anna', lastName, properties, at, at);
  }
  return audienceId;
}
